/** A page with `?guest` in its address may write, and not decide. */
export const api = new URLSearchParams(location.search).has('guest') ? '/api/guest/chat' : '/api/chat';

/**
 * Loads a chat: its messages, the earliest first, what waits in it, the versions of its messages, and what it has cost. Fails
 * without a connection.
 */
export async function loadChat(id) {
  const [history, chat] = await Promise.all([loadHistory(id), call('GET', `/api/chats/${encodeURIComponent(id)}`)]);
  return { ...history, ...chat };
}

async function loadHistory(id) {
  const query = new URLSearchParams({ id, limit: 1_000 });
  const history = await call('GET', `${api}/history?${query}`);
  for (let { before } = history; before !== undefined; ) {
    query.set('before', before);
    const page = await call('GET', `${api}/history?${query}`);
    history.messages.unshift(...page.messages);
    before = page.before;
  }
  return history;
}

/** Returns the latest chats whose titles contain the words. */
export function loadChats(search) {
  return call('GET', `/api/chats/?${new URLSearchParams({ search })}`);
}

export function deleteChat(id) {
  return call('DELETE', `/api/chats/${encodeURIComponent(id)}`);
}

/** Goes to another version of a message. */
export function showVersion(id, version) {
  return call('PUT', `/api/chats/${encodeURIComponent(id)}`, { version });
}

/** Stops the answer. To close the connection stops nothing, because the answer goes on without its page. */
export function stopAnswer(id) {
  return postTo('stop', { id });
}

/** Sends JSON to a route of the chat. Returns the JSON of the response. */
export function postTo(route, body) {
  return call('POST', `${api}/${route}`, body);
}

async function call(method, url, body) {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, { method, ...sent });
  if (!response.ok) throw new Error(`The request was refused with status code ${response.status}.`);
  return response.status === 204 ? undefined : response.json();
}
