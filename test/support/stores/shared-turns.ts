import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createDeferred } from '../../../src/internal/promise.js';
import type { SessionStore } from '../../../src/state/session-store.js';

const program = fileURLToPath(new URL('../../fixtures/stores/turn-writer.ts', import.meta.url));

interface Turn {
  readonly question: string;
  readonly revisions: readonly number[];
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

/** Runs two processes on one session, and checks that no acknowledged turn is lost and no revision occurs twice. */
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
  const { messages = [], revision = 0 } = (await store.load('s')) ?? {};
  const contents = messages.map(({ role, content }) => ({ role, text: textOf(content) }));

  const revisions = turns.flatMap((turn) => turn.revisions);
  expect(new Set(revisions).size).toBe(revisions.length);
  expect(Math.max(...revisions)).toBeLessThanOrEqual(revision);
  const questions = contents.filter(({ role }) => role === 'user').map(({ text }) => text);
  expect(new Set(questions).size).toBe(questions.length);
  for (const { question } of turns) {
    const at = contents.findIndex(({ text }) => text === question);
    expect(contents[at + 1]).toEqual({ role: 'assistant', text: `answer to ${question}` });
  }
  // Each kill may leave one turn that is stored, but not acknowledged.
  expect(questions.length - turns.length).toBeGreaterThanOrEqual(0);
  expect(questions.length - turns.length).toBeLessThanOrEqual(2 * each.kills);
  expect(isMixed(both.map((mine) => mine.flatMap((turn) => turn.revisions)))).toBe(true);
}

/** True if neither process had finished before the other began. */
function isMixed([one = [], two = []]: readonly (readonly number[])[]): boolean {
  return Math.min(...one) < Math.max(...two) && Math.min(...two) < Math.max(...one);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('');
}
