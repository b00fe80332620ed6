// Prints the bytes and the timers that open, idle sessions add: `node --expose-gc idle-sessions.mjs <the URL of a build>
// <number of sessions>`.
import { createHook } from 'node:async_hooks';
import { ANSWER, fakeModel } from './script.mjs';

const [build = '', count = ''] = process.argv.slice(2);
const sessions = Number(count);
/** @type {typeof import('keelson')} */
const { Agent, MemorySessionStore } = await import(build);

const agent = new Agent({ model: fakeModel(ANSWER), store: new MemorySessionStore() });

/** @param {string} id */
async function open(id) {
  const session = await agent.session({ id });
  await session.run('Hello');
  return session;
}

function heap() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

for (let at = 0; at < sessions; at++) await (await open(`stored-${at}`)).close();
/** The timers that have neither fired nor been cleared, also those that do not keep the process alive. */
const timers = new Set();
createHook({
  init: (id, type) => void (type === 'Timeout' && timers.add(id)),
  destroy: (id) => void timers.delete(id),
}).enable();
const before = heap();
const opened = [];
for (let at = 0; at < sessions; at++) opened.push(await agent.session({ id: `stored-${at}` }));
// Cleared timers leave the set in a later task.
await new Promise((resolve) => setImmediate(resolve));
const bytes = (heap() - before) / opened.length;
console.log(JSON.stringify({ bytes, timers: timers.size }));
