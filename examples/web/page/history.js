/** The id of the chat is in the address, so that a reload and a second tab show the same chat. */
export const chatId = readChatId();

function readChatId() {
  if (location.hash.length > 1) return location.hash.slice(1);
  const id = crypto.randomUUID();
  history.replaceState(null, '', `#${id}`);
  return id;
}

/** A page with `?guest` in its address may write, and not decide. */
export const headers = new URLSearchParams(location.search).has('guest') ? { 'x-guest': 'yes' } : {};

/** Loads the stored messages of a chat. Fails without a connection. */
export async function loadHistory(id) {
  const response = await fetch(`/api/chat/history?id=${encodeURIComponent(id)}`, { headers });
  if (!response.ok) throw new Error(`The history was refused with status code ${response.status}.`);
  return response.json();
}

/** Stops the answer. To close the connection stops nothing, because the answer goes on without its page. */
export async function stopAnswer(id) {
  await postTo('stop', { id });
}

/** Sends JSON to a route of the chat. Returns the JSON of the response. */
export async function postTo(route, body) {
  const response = await fetch(`/api/chat/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The request was refused with status code ${response.status}.`);
  return response.json();
}
