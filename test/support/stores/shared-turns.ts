import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createDeferred } from '../../../src/internal/promise.js';
import type { Message } from '../../../src/model/message.js';
import type { SessionStore } from '../../../src/state/session-store.js';

const program = fileURLToPath(new URL('../../fixtures/stores/turn-writer.ts', import.meta.url));

interface Turn {
  readonly question: string;
}

/** The store that two processes share. */
export interface SharedStore {
  readonly kind: 'postgres' | 'sqlite';
  readonly place: string;
}

/** Runs `count` acknowledged turns in one process, which is killed `kills` times at random and started again. */
async function runTurns(
  shared: SharedStore,
  { count, kills }: SharedTurns,
  ready: () => Promise<void>,
): Promise<Turn[]> {
  const turns: Turn[] = [];
  const kill = { left: kills };
  while (turns.length < count) {
    const order = JSON.stringify({ ...shared, count: count - turns.length });
    const child = spawn(process.execPath, ['--import', 'tsx', program, order], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const closed = once(child, 'exit');
    const onStart = () => ready().then(() => void child.stdin.write('go'));
    await readTurns(child.stdout, turns, {
      onStart,
      onTurn: () => {
        if (kill.left === 0 || turns.length < ((kills - kill.left + 1) * count) / (kills + 1)) return;
        kill.left -= 1;
        // A random delay, so that the kill also happens in the middle of a save.
        void sleep(Math.random() * 10).then(() => child.kill('SIGKILL'));
      },
    });
    const [code, signal] = await closed;
    expect([code, signal]).toEqual(turns.length < count || signal !== null ? [null, 'SIGKILL'] : [0, null]);
  }
  return turns;
}

interface TurnListeners {
  onStart(): Promise<void>;
  onTurn(): void;
}

async function readTurns(stdout: Readable, turns: Turn[], { onStart, onTurn }: TurnListeners): Promise<void> {
  for await (const line of createInterface({ input: stdout })) {
    const printed = JSON.parse(line);
    if (printed.started) {
      await onStart();
      continue;
    }
    turns.push(printed);
    onTurn();
  }
}

/** How many turns each process acknowledges, and how often each is killed. */
export interface SharedTurns {
  readonly count: number;
  readonly kills: number;
}

/** Runs two processes on one session, and checks that no acknowledged turn is lost and that turns do not overlap. */
export async function checkSharedTurns(shared: SharedStore, store: SessionStore, each: SharedTurns): Promise<void> {
  // Both begin together, also if one process takes long to start.
  const { promise, resolve } = createDeferred<void>();
  let started = 0;
  const ready = () => {
    started += 1;
    if (started === 2) resolve();
    return promise;
  };
  const both = await Promise.all([runTurns(shared, each, ready), runTurns(shared, each, ready)]);
  const turns = both.flat();
  const { entries = [] } = (await store.load('s')) ?? {};
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  const runs = entries.map(({ run }) => run).filter((run, at, all) => run !== all[at - 1]);
  expect(new Set(runs).size).toBe(runs.length);

  const said = entries.map(({ body }) => (body.type === 'message' ? saidIn(body.message) : undefined));
  const questions = said.flatMap((it) => (it?.role === 'user' ? [it.text] : []));
  expect(new Set(questions).size).toBe(questions.length);
  for (const { question } of turns) {
    const at = said.findIndex((it) => it?.text === question);
    expect(said[at + 1]).toEqual({ role: 'assistant', text: `answer to ${question}` });
    expect(entries[at + 1]?.run).toBe(entries[at]?.run);
  }
  // Each kill may leave one turn that is stored, but not acknowledged.
  expect(questions.length - turns.length).toBeGreaterThanOrEqual(0);
  expect(questions.length - turns.length).toBeLessThanOrEqual(2 * each.kills);
  expect(isMixed(both.map((mine) => mine.map(({ question }) => questions.indexOf(question))))).toBe(true);
}

/** True if neither process had finished before the other began. */
function isMixed([one = [], two = []]: readonly (readonly number[])[]): boolean {
  return Math.min(...one) < Math.max(...two) && Math.min(...two) < Math.max(...one);
}

function saidIn({ role, content }: Message) {
  if (typeof content === 'string') return { role, text: content };
  const parts = content as readonly { readonly text?: string }[];
  return { role, text: parts.map(({ text = '' }) => text).join('') };
}
