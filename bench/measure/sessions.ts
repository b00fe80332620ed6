import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type * as Keelson from '../../src/index.js';
import { digits, type Figure } from '../driver/figure.js';
import { ANSWER, fakeModel } from '../work/script.mjs';
import type { Setting } from './measurement.js';

const OPEN = 10_000;
const STORED = 1000;
const script = fileURLToPath(new URL('../work/idle-sessions.mjs', import.meta.url));

/** The messages that a session loads, and the bytes and timers of idle sessions. */
export async function measureSessions({ builds }: Setting): Promise<Figure[]> {
  return [await countLoaded(builds.shipped), ...(await measureIdle(builds.shipped))];
}

/** Counts the messages that a store returns while a session is opened, runs once and is closed. */
async function countLoaded(build: string): Promise<Figure> {
  const { Agent, MemorySessionStore } = (await import(build)) as typeof Keelson;
  const store = new MemorySessionStore();
  const text = (at: number) => ({ role: 'user', content: `message ${at}` }) as const;
  await store.save('s', { keep: 0, append: Array.from({ length: STORED }, (_, at) => text(at)) }, 0);
  let loaded = 0;
  const load = store.load.bind(store);
  store.load = (id, known) => {
    const stored = load(id, known);
    loaded += stored?.messages.length ?? 0;
    return stored;
  };
  const session = await new Agent({ model: fakeModel(ANSWER), store }).session({ id: 's' });
  await session.run('Hello');
  await session.close();
  return {
    name: 'messages loaded by opening, one run and closing, against the stored messages',
    value: loaded / STORED,
    unit: '×',
    bound: 1,
    note: `${digits(loaded)} of ${digits(STORED)}`,
  };
}

async function measureIdle(build: string): Promise<Figure[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, build, `${OPEN}`]);
  const { bytes, timers } = JSON.parse(stdout) as { readonly bytes: number; readonly timers: number };
  return [
    { name: `bytes of an idle session, ${digits(OPEN)} open`, value: Math.round(bytes), unit: 'B' },
    { name: `timers of ${digits(OPEN)} idle sessions`, value: timers, unit: '', bound: 0 },
  ];
}
