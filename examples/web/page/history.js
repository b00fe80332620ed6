/** The id of the chat is in the address, so that a reload and a second tab show the same chat. */
export const chatId = readChatId();

function readChatId() {
  if (location.hash.length > 1) return location.hash.slice(1);
  const id = crypto.randomUUID();
  history.replaceState(null, '', `#${id}`);
  return id;
}

/** Loads the stored messages of a chat. */
export async function loadHistory(id) {
  const response = await fetch(`/api/chat/history?id=${encodeURIComponent(id)}`);
  if (!response.ok) return { messages: [], running: false };
  return response.json();
}

/** Stops the answer, also if another tab has asked for it. */
export async function stopAnswer(id) {
  const headers = { 'content-type': 'application/json' };
  await fetch('/api/chat/stop', { method: 'POST', headers, body: JSON.stringify({ id }) });
}
