// Prints the bytes and the timers that open, idle sessions add: `node --expose-gc idle-sessions.mjs <the URL of a build>
// <number of sessions>`.
const [build = '', count = ''] = process.argv.slice(2);
const sessions = Number(count);
/** @type {typeof import('keelson')} */
const { Agent, MemorySessionStore } = await import(build);

/** @type {import('keelson').Model} */
const model = {
  id: 'model',
  generate: async () => ({
    content: [{ type: 'text', text: 'ok' }],
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  }),
};
const agent = new Agent({ model, store: new MemorySessionStore() });

/** @param {string} id */
async function open(id) {
  const session = await agent.session({ id });
  await session.run('Hello');
  return session;
}

function timers() {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length;
}

function heap() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

for (let at = 0; at < sessions; at++) await (await open(`stored-${at}`)).close();
const before = { bytes: heap(), timers: timers() };
const opened = [];
for (let at = 0; at < sessions; at++) opened.push(await agent.session({ id: `stored-${at}` }));
const bytes = (heap() - before.bytes) / opened.length;
console.log(JSON.stringify({ bytes, timers: timers() - before.timers }));
