import type { MemorySessionStore } from 'keelson';
import { Agent, type AgentLifecycle, type Clock, type Logger, type RunResult, type Session } from 'keelson';
import { durable, type JournalEntry, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { toolOf } from '../agent/sample-tools.js';
import { keepingLogger } from '../agent/silent-logger.js';
import { transcript } from '../agent/transcript.js';
import { approveAll } from './errand.js';

/** The work of a run at which somebody posts. */
export type OnWork = (what: string, signal?: AbortSignal) => unknown;

/** The store of the order, and what happens meanwhile. */
export interface Order {
  readonly store: SessionStore;
  readonly onWork?: OnWork;
  readonly lifecycle?: readonly AgentLifecycle[];
  readonly clock?: Clock;
  readonly queueMs?: number;
  readonly logger?: Logger;
}

const call = (name: string) => ({ name, id: name, input: {} });

/** One attempt of a run that sends a mail, and waits for the approval of a payment. */
export async function attempt(step: Step, { store, onWork = () => {}, lifecycle = [], ...options }: Order) {
  const model = scriptedModel(async ({ messages, signal }) => {
    const said = messages.filter(({ role }) => role === 'assistant').length;
    await onWork(`model ${said + 1}`, signal);
    return [calls(call('mail')), calls(call('pay'))][said] ?? `Done with ${messages.length}.`;
  });
  const tool = (name: string) => toolOf(name, async (_input, { signal }) => (await onWork(name, signal)) ?? name);
  const { clock, queueMs, logger = keepingLogger() } = options;
  const agent = new Agent(
    durable({ step }).options({
      model,
      store,
      tools: [tool('mail'), tool('pay')],
      lifecycle: [approval({ tools: ['pay'] }), ...lifecycle],
      logger,
      ...(queueMs && { timeouts: { queueMs } }),
      ...(clock && { clock }),
    }),
  );
  const session = await agent.session({ id: 's' });
  let result: RunResult = await session.run('Order.');
  while (result.status === 'suspended') {
    await onWork('wait');
    result = await session.run('', { resume: await approveAll(result) });
  }
  return { text: result.text, said: transcript(session.messages) };
}

/** The session as a process without an engine has it. */
export function elsewhere(store: MemorySessionStore, clock?: Clock): Promise<Session> {
  const agent = new Agent({ model: scriptedModel(['Taken over.']), store, ...(clock && { clock }) });
  return agent.session({ id: 's' });
}

const copyOf = (journal: MemoryStep['journal']): readonly JournalEntry[] => JSON.parse(JSON.stringify(journal));
export const again = (step: MemoryStep) => memoryStep({ journal: copyOf(step.journal) });
export const namesOf = (step: MemoryStep) => step.journal.map((entry) => entry?.name);
