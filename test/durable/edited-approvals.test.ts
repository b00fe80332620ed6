import { Agent, MemorySessionStore, type Message, type ResumeDecisions } from 'keelson';
import { durable, type MemoryStep, memoryStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { resultsIn } from '../support/agent/transcript.js';

const resume: ResumeDecisions = { call_1: { approve: { euro: 30 } } };
const READ = { call_1: 'The person changed the arguments to {"euro":30}.\npaid 30' };

/** One attempt of a workflow that asks before a payment. */
function attempt(step: MemoryStep, store?: MemorySessionStore) {
  const paid: unknown[] = [];
  const pay = toolOf('pay', (input) => {
    paid.push(input);
    return `paid ${Object(input).euro}`;
  });
  const model = scriptedModel([calls('pay', { euro: 40 }), 'done']);
  const lifecycle = [approval({ tools: ['pay'] })];
  const agent = new Agent(durable({ step }).options({ model, tools: [pay], lifecycle, ...(store && { store }) }));
  return { agent, model, paid };
}

test('a durable run with other arguments is replayed with the same result, and the tool runs once', async () => {
  const workflow = async ({ agent }: ReturnType<typeof attempt>) => {
    const { history } = await agent.run('Pay.');
    return (await agent.run('', { messages: history, resume })).messages;
  };
  const step = memoryStep();
  const first = attempt(step);
  const messages: readonly Message[] = await workflow(first);

  const replay = attempt(memoryStep({ journal: step.journal }));

  expect(await workflow(replay)).toEqual(messages);
  expect(resultsIn(messages)).toEqual(READ);
  expect([first.paid, replay.paid]).toEqual([[{ euro: 30 }], []]);
});

test('the decision is in the record of a durable session', async () => {
  const store = new MemorySessionStore();
  const { agent, model } = attempt(memoryStep(), store);
  const session = await agent.session({ id: 's' });
  await session.run('Pay.');

  await session.run('', { resume });

  const bodies = (await store.load('s'))?.entries.map(({ body }) => body);
  expect(bodies).toContainEqual({ type: 'decision', call: 'call_1', decision: { approve: { euro: 30 } } });
  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual(READ);
});
