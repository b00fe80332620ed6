// Plays a chat against a handler on the server of the runtime. An argument names a server that already runs.

const given = globalThis.Deno ? Deno.args[0] : process.argv[2];
const [url, close] = given === undefined ? await serve((await import('./chat-agent.mjs')).handler) : [given, () => {}];

const asked = await (await send('', userMessage('Pay 40', 'a'))).text();
check(asked.includes('"tool-approval-request"') && asked.endsWith('data: [DONE]\n\n'), asked);
const decided = await (await send('/decide', { id: 'a', decisions: { call_1: 'approve' } })).text();
check(decided.includes('paid 40') && decided.includes('"finish"'), decided);
const history = await (await send('/history?id=a')).json();
check(history.messages.length === 2 && history.running === false, JSON.stringify(history));

const waiting = (await send('', userMessage('Wait', 'b'))).body.getReader();
await readUntil(waiting, 'Hel');
check((await (await send('/stop', { id: 'b' })).json()).stopped === true, 'no run was stopped');
await readUntil(waiting, '"abort"');

const left = new AbortController();
const leaving = (await send('', userMessage('Wait', 'c'), left.signal)).body.getReader();
await readUntil(leaving, 'Hel');
left.abort();
const stopped = await (await send('/stop', { id: 'c' })).json();
check(stopped.stopped === true, 'the run of a client that disconnected does not go on');
check((await activeRuns()) === 0, 'a stopped run goes on');

check((await send('', { id: 'a', messages: [] })).status === 400, 'a malformed body was accepted');
check((await send('/decide', { id: 'a', decisions: { call_9: 'approve' } })).status === 409, 'a forged approval');
await close();
console.log('the chat handler works');

async function activeRuns() {
  return (await fetch(`${url}/runs`)).json();
}

function send(route, body, signal) {
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  return fetch(`${url}/chat${route}`, { ...init, ...(signal && { signal }) });
}

function userMessage(text, id) {
  return { id, messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text }] }] };
}

async function readUntil(reader, wanted) {
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    check(!done, `the stream ended before ${wanted}: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
}

function check(holds, message) {
  if (!holds) throw new TypeError(`unexpected: ${message}`);
}

/** Starts the server of the runtime. Returns its address, and a function that ends it. */
async function serve(handler) {
  if (globalThis.Bun) {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handler });
    return [`http://127.0.0.1:${server.port}`, () => server.stop(true)];
  }
  if (globalThis.Deno) {
    const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, handler);
    return [`http://127.0.0.1:${server.addr.port}`, () => server.shutdown()];
  }
  const { createServer } = await import('node:http');
  const { toNodeListener } = await import('keelson/ui');
  const server = createServer(toNodeListener(handler));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [`http://127.0.0.1:${server.address().port}`, () => server.close(() => {}).closeAllConnections()];
}
