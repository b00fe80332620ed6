import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent, HookAction } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import type { RaceOrder } from '../../fixtures/agent/claim-racer.js';
import { toolOf } from './sample-tools.js';

const program = fileURLToPath(new URL('../../fixtures/agent/claim-racer.ts', import.meta.url));

/** One execution of the tool of a racer. */
export interface Payment {
  readonly id: string;
  readonly pid: number;
  readonly attempt: number;
  readonly key: string;
}

/** A process that resumes suspended sessions. */
export interface Racer {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  race(order: RaceOrder): Promise<string>;
}

/** Starts a racer with a directory of sessions, the URL of Redis and the file of payments. */
export function startRacer(...args: readonly string[]): Racer {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ready: lines.next(),
    async race(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const { value } = await lines.next();
      return value === undefined ? 'killed' : JSON.parse(value).end;
    },
  };
}

/** Stores a session with a call that waits for an approval. Returns the approval. */
export async function suspendPayment(store: SessionStore, id: string): Promise<RaceOrder['resume']> {
  const agent = new Agent({
    model: scriptedModel(calls('pay')),
    store,
    tools: [toolOf('pay', () => 'never')],
    lifecycle: [{ wrapToolCall: () => HookAction.suspend('Ask first.') }],
  });
  const { pending } = await (await agent.session({ id })).run('Pay the bill.');
  return Object.fromEntries(pending.map((call) => [call.id, 'approve'] as const));
}

/** Returns the payments of one session. */
export function paymentsIn(ledger: string, id: string): Payment[] {
  return readFileSync(ledger, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${id}"`))
    .map((line) => JSON.parse(line));
}
