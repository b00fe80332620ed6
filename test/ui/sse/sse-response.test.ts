import { setImmediate } from 'node:timers/promises';
import { Agent, defineTool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, fails, hangs, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { sseResponse } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readSSE } from '../../support/ui/read-sse.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }, { progress }) => {
    progress({ step: 1 });
    await setImmediate();
    if (a > 9) throw new TypeError('cannot read /srv');
    return { sum: a + b };
  },
});

function agentOf(script: readonly ScriptEntry[], options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  return new Agent({ model: scriptedModel(script), tools: [add], ...options });
}

test('sends the events of a run with its id and the number of its events so far as ids', async () => {
  const stream = agentOf([streams(['Hel', 'lo.'])]).stream('Hi');
  const response = sseResponse(stream);
  await stream.result;

  const events = await readSSE(response);

  const runId = (events[0]?.data as { runId: string } | undefined)?.runId ?? '';
  expect(events.map(({ id, event }) => `${id?.replace(runId, 'run')} ${event}`)).toEqual([
    'run:1 run-start',
    'run:2 turn-start',
    'run:5 text-delta',
    'run:6 model-end',
    'run:7 turn-end',
    'run:8 run-end',
  ]);
  expect(events[2]?.data).toEqual({ type: 'text-delta', turn: 1, attempt: 1, text: 'Hello.' });
  expect(events[5]?.data).toEqual({
    type: 'run-end',
    result: { status: 'completed', text: 'Hello.', pending: [], usage: expect.objectContaining({ totalTokens: 15 }) },
  });
});

test('sends a tool call, its progress and its output', async () => {
  const events = await readSSE(sseResponse(agentOf([calls('add', { a: 1, b: 2 }), '3']).stream('1 + 2?')));

  expect(events.filter(({ event }) => event.startsWith('tool-')).map(({ data }) => data)).toEqual([
    { type: 'tool-start', turn: 1, callId: 'call_1', name: 'add', input: { a: 1, b: 2 } },
    { type: 'tool-delta', turn: 1, callId: 'call_1', name: 'add', data: { step: 1 } },
    { type: 'tool-end', turn: 1, callId: 'call_1', name: 'add', output: { sum: 3 } },
  ]);
});

test('hides the messages of errors', async () => {
  const agent = agentOf([calls('add', { a: 10, b: 2 }), fails('the key sk-123')]);

  const events = await readSSE(sseResponse(agent.stream('Hi')));

  expect(JSON.stringify(events)).not.toMatch(/sk-123|srv/);
  expect(events).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ errorText: 'The tool failed.' }) }),
  );
  expect(events.at(-2)?.data).toEqual({
    type: 'run-error',
    errorText: 'The run failed (ERR_MODEL_FAILED).',
    aborted: false,
  });
});

test('lists the pending calls of a suspended run, and reports a denied call', async () => {
  const agent = agentOf([calls('add', { a: 1, b: 2 }), 'As you wish.'], { lifecycle: [approval({ tools: ['add'] })] });
  await using session = await agent.session({ id: 's' });

  const asked = await readSSE(sseResponse(session.stream('1 + 2?')));
  const denied = await readSSE(sseResponse(session.stream('', { resume: { call_1: 'deny' } })));

  expect(asked.at(-1)?.data).toMatchObject({
    result: { status: 'suspended', pending: [{ id: 'call_1', name: 'add', input: { a: 1, b: 2 } }] },
  });
  expect(denied.map(({ data }) => data)).toContainEqual({ type: 'tool-denied', callId: 'call_1', name: 'add' });
});

test('reports an abort without an error of the server', async () => {
  const abort = new AbortController();
  const agent = agentOf([streams(['Hel'], hangs())]);
  agent.on('text-delta', () => abort.abort());

  const events = await readSSE(sseResponse(agent.stream('Hi', { signal: abort.signal })));

  expect(events.at(-2)?.data).toEqual({ type: 'run-error', errorText: 'The run was stopped.', aborted: true });
});

test('shows the failure of a run that could not start', async () => {
  const agent = agentOf(['Hello.']);
  await agent.close();

  const events = await readSSE(sseResponse(agent.stream('Hi')));

  expect(events.map(({ data }) => data)).toEqual([
    { type: 'run-error', errorText: 'The run failed (ERR_AGENT_CLOSED).', aborted: false },
  ]);
});

test('joins the deltas that wait for a slow reader', async () => {
  const stream = agentOf([streams(Array.from({ length: 1000 }, () => 'ab'))]).stream('Hi');
  const response = sseResponse(stream, { headers: { 'x-own': '1' } });
  await stream.result;

  const events = await readSSE(response);

  expect(response.headers.get('x-own')).toBe('1');
  expect(events.filter(({ event }) => event === 'text-delta')).toHaveLength(1);
});
