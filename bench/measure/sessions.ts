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
  const entries = Array.from({ length: STORED }, (_, at) => ({
    id: `${at}`,
    ...(at > 0 && { parent: `${at - 1}` }),
    at,
    body: { type: 'message', message: text(at) } as const,
  }));
  store.claim('s', { token: 't', run: 'r', ttlMs: 1_000 });
  store.append('s', { token: 't', length: 0, entries, release: true });
  let loaded = 0;
  const load = store.load.bind(store);
  store.load = (id, query) => {
    const stored = load(id, query);
    loaded += stored?.entries.length ?? 0;
    return stored;
  };
  const claim = store.claim.bind(store);
  store.claim = (id, given) => {
    const answer = claim(id, given);
    if (answer.claimed) loaded += answer.entries.length;
    return answer;
  };
  const session = await new Agent({ model: fakeModel(ANSWER), store }).session({ id: 's' });
  await session.run('Hello');
  await session.close();
  return {
    name: 'entries loaded by opening, one run and closing, against the stored entries',
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
