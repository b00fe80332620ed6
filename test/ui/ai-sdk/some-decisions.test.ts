import { Agent } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { ChatClient, loadHistory } from '../../support/ui/chat-client.js';

/** A chat in which two payments wait for approval. */
function twoPayments() {
  const paid: string[] = [];
  const pay = toolOf('pay', (_input, { callId }) => {
    paid.push(callId);
    return `paid ${callId}`;
  });
  const model = scriptedModel([calls({ name: 'pay' }, { name: 'pay' }), 'Both are done.']);
  const agent = new Agent({ model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const waiting = async () => (await loadHistory(handler)).pending;
  return { handler, model, paid, waiting };
}

const statesIn = ({ lastMessage }: ChatClient) =>
  lastMessage?.parts.flatMap((part) => ('toolCallId' in part ? [part.state] : []));

test('a page that decides on one of two calls gets its result, and the other call keeps waiting', async () => {
  const { handler, model, paid, waiting } = twoPayments();
  const page = new ChatClient(handler, 'chat', { sendAutomaticallyWhen: () => false });
  const decide = async (id: string, approved: boolean) => {
    await page.addToolApprovalResponse({ id, approved });
    await page.sendMessage();
  };
  await page.sendMessage({ text: 'Pay twice.' });

  await decide('call_2', true);
  const early = { paid: [...paid], states: statesIn(page), waits: await waiting(), requests: model.requests.length };
  await decide('call_1', false);

  expect(early).toEqual({
    ...{
      paid: ['call_2'],
      states: ['approval-requested', 'output-available'],
      waits: [expect.objectContaining({ id: 'call_1' })],
      requests: 1,
    },
  });
  expect([page.errors, paid, await waiting()]).toEqual([[], ['call_2'], []]);
  expect(statesIn(page)).toEqual(['output-denied', 'output-available']);
  expect(model.requests).toHaveLength(2);
});
