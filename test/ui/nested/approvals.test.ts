import {
  type AgentHandler,
  type AgentHandlerOptions,
  createAgentHandler,
  type SSEEvent,
  uiMessageResponse,
} from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { payChain } from '../../support/agent/nested/pay-chain.js';
import { gate, until } from '../../support/agent/settle.js';
import { agUIClient } from '../../support/ui/ag-ui-client.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { drawnRuns } from '../../support/ui/nested-agents.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { readChunks, readMessage } from '../../support/ui/read-ui-message.js';

const LEAF = 'call_1/call_1/call_1';

/** A chat whose boss uses a desk, which uses a clerk, whose payment waits. */
function chat(options: Partial<AgentHandlerOptions> = {}, ...chain: Parameters<typeof payChain>) {
  const agents = payChain(...chain);
  const handler = createAgentHandler(agents.boss, { authorize: 'none', session: (id) => id, ...options });
  return { ...agents, handler };
}

const before = [
  'call_1 desk suspended',
  '  1: clerk call_1 running {"prompt":"Pay it."}',
  'call_1/call_1 clerk suspended',
];
const waits = [...before, '  1: pay call_1 pending {"euro":40} "pay" needs approval. approval'];
const ended = (call: string) => [
  'call_1 desk completed',
  '  1: clerk call_1 done {"prompt":"Pay it."} "The clerk paid."',
  '  2: The desk is done.',
  'call_1/call_1 clerk completed',
  `  1: pay call_1 ${call}`,
  '  2: The clerk paid.',
];

const drawn = ({ lastMessage }: ChatClient) => drawnRuns(lastMessage?.parts ?? []);
const loaded = async (handler: AgentHandler) => drawnRuns((await loadHistory(handler)).messages.at(-1)?.parts ?? []);
const desk = ({ lastMessage }: ChatClient) => lastMessage?.parts.find(({ type }) => type === 'tool-desk');

describe('with `useChat`, a call that waits inside of two others', () => {
  test('is a part of the card of the outermost call, and an approval of that call approves it', async () => {
    const { handler, paid } = chat();
    const page = new ChatClient(handler);
    await page.sendMessage({ text: 'Go.' });

    expect(drawn(page)).toEqual(waits);
    expect(desk(page)).toMatchObject({ state: 'approval-requested', approval: { id: 'call_1' } });
    expect(page.lastMessage?.metadata).toMatchObject({ pending: [LEAF] });
    const { messages, pending } = await loadHistory(handler);
    expect(drawnRuns(messages.at(-1)?.parts ?? [])).toEqual(waits);
    expect(pending).toMatchObject([{ id: LEAF, path: ['call_1', 'call_1'], agent: 'clerk', name: 'pay' }]);

    await page.addToolApprovalResponse({ id: 'call_1', approved: true });
    await until(() => page.status === 'ready' && drawn(page).includes('call_1 desk completed'));

    expect([page.errors, paid.length]).toEqual([[], 1]);
    expect(drawn(page)).toEqual(ended('done {"euro":40} "paid 40"'));
    expect(await loaded(handler)).toEqual(ended('done {"euro":40} "paid 40"'));
  });

  test('is given up with the outermost call', async () => {
    const { handler, paid } = chat();
    const page = new ChatClient(handler);
    await page.sendMessage({ text: 'Go.' });
    await page.addToolApprovalResponse({ id: 'call_1', approved: false });
    await until(() => page.status === 'ready' && page.lastMessage?.parts.at(-1)?.type === 'text');

    expect([page.errors, paid]).toEqual([[], []]);
    expect(desk(page)).toMatchObject({ state: 'output-denied' });
    expect(await loaded(handler)).toEqual(
      waits.map((line) => line.replace('suspended', 'failed').replace(/pending(.*) "pay".*/, 'running$1')),
    );
  });

  test.each([
    [
      'approved with other arguments',
      { approve: { euro: 30 } },
      'done {"euro":30} "The person changed the arguments to {\\"euro\\":30}.\\npaid 30"',
    ],
    ['denied', { deny: 'too much' }, 'denied {"euro":40} too much'],
  ])('can be %s by its own id', async (_title, decision, shown) => {
    const { handler } = chat();
    const page = new ChatClient(handler);
    await page.sendMessage({ text: 'Go.' });
    const chunks = await readChunks(await post(handler, '/decide', { id: 'chat', decisions: { [LEAF]: decision } }));

    const { parts } = await readMessage(chunks, page.lastMessage);
    expect(drawnRuns(parts)).toEqual(ended(shown));
    expect(await loaded(handler)).toEqual(ended(shown));
  });

  test('is shown from its beginning to a page that comes back while the approved call runs', async () => {
    const held = gate();
    const { handler } = chat({}, {}, { pay: () => held.pass() });
    const first = new ChatClient(handler);
    await first.sendMessage({ text: 'Go.' });
    const approving = first.addToolApprovalResponse({ id: 'call_1', approved: true });
    await until(() => held.arrived === 1);
    const back = new ChatClient(handler);
    back.messages = (await loadHistory(handler)).messages;
    const resuming = back.resumeStream();
    await until(() => drawn(back).includes('  1: pay call_1 running {"euro":40}'));
    held.open();
    await Promise.all([approving, resuming]);
    await until(() => first.status === 'ready');

    for (const page of [first, back]) expect(drawn(page)).toEqual(ended('done {"euro":40} "paid 40"'));
  });

  test('does not wait for a page that must not decide', async () => {
    const { handler } = chat({ mayDecide: () => false });
    const page = new ChatClient(handler);
    await page.sendMessage({ text: 'Go.' });
    const running = [...before, '  1: pay call_1 running {"euro":40}'];

    expect(drawn(page)).toEqual(running);
    expect(desk(page)).toMatchObject({ state: 'input-available' });
    expect(await loaded(handler)).toEqual(running);
  });

  test('needs no session to go on in its card', async () => {
    const { boss } = payChain();
    const asked = boss.stream('Go.', { nested: true });
    const message = await readMessage(await readChunks(uiMessageResponse(asked, { messageId: 'm' })));
    const { history } = await asked.result;
    const resumed = boss.stream('', { nested: true, messages: history, resume: { [LEAF]: 'approve' } });

    const { parts } = await readMessage(await readChunks(uiMessageResponse(resumed, { messageId: 'm' })), message);

    expect(drawnRuns(parts)).toEqual(ended('done {"euro":40} "paid 40"'));
  });
});

test.each([
  ['an unknown id', { 'call_1/call_1/call_2': 'approve' }, '409 ERR_UI_CALL_UNKNOWN'],
  ['a call between', { 'call_1/call_1': 'deny' }, '409 ERR_UI_CALL_UNKNOWN'],
  ['the outermost call and what waits inside', { call_1: 'deny', [LEAF]: 'approve' }, '409 ERR_UI_CALL_UNKNOWN'],
  ['other arguments of the outermost call', { call_1: { approve: {} } }, '409 ERR_UI_CALL_UNKNOWN'],
  ['arguments that do not fit', { [LEAF]: { approve: { euro: 400 } } }, '400 ERR_UI_BODY_INVALID'],
])('refuses decisions on %s', async (_title, decisions, refusal) => {
  const { handler, paid } = chat({ protocol: 'sse' });
  await (await post(handler, '', { id: 'chat', message: 'Go.' })).text();

  const answer = await post(handler, '/decide', { id: 'chat', decisions });

  const { error } = (await answer.json()) as { error: { code: string } };
  expect([`${answer.status} ${error.code}`, paid]).toEqual([refusal, []]);
});

test('with AG-UI, a call that waits inside is an interrupt, and the run goes on in its activities', async () => {
  const { handler } = chat({ protocol: 'ag-ui' });
  const { client, run } = agUIClient(handler, [{ id: 'q', role: 'user', content: 'Go.' }]);
  const shown = () =>
    drawnRuns(
      client.messages.flatMap((one) =>
        one.role === 'activity' ? [{ type: one.activityType, data: one.content }] : [],
      ),
    );
  const { events } = await run();

  expect(shown()).toEqual(waits);
  expect(events.at(-1)).toMatchObject({
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: LEAF,
          reason: 'tool_call',
          toolCallId: 'call_1',
          message: '"pay" needs approval.',
          metadata: { path: ['call_1', 'call_1'], agent: 'clerk', name: 'pay', input: { euro: 40 } },
        },
      ],
    },
  });
  await run({ resume: [{ interruptId: LEAF, status: 'resolved', payload: { approved: true } }] });
  expect(shown()).toEqual(ended('done {"euro":40} "paid 40"'));
});

test('plain events name what waits inside, and a request decides on it', async () => {
  const { handler, paid } = chat({ protocol: 'sse' });
  const events = await readSSE(await post(handler, '', { id: 'chat', message: 'Go.' }));

  expect(events.at(-1)?.data).toMatchObject({
    result: {
      status: 'suspended',
      pending: [{ id: LEAF, path: ['call_1', 'call_1'], agent: 'clerk', name: 'pay', reason: '"pay" needs approval.' }],
    },
  });
  const rest = await readSSE(await post(handler, '/decide', { id: 'chat', decisions: { [LEAF]: 'approve' } }));
  expect(rest.at(-1)?.data).toMatchObject({ type: 'run-end', result: { status: 'completed', text: 'All done.' } });
  expect(rest.filter(({ data }) => (data as SSEEvent).path?.length === 2).map(({ event }) => event)).toContain(
    'tool-end',
  );
  expect(paid).toHaveLength(1);
});
