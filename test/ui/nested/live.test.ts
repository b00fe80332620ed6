import { setImmediate } from 'node:timers/promises';
import { Agent, type AgentOptions, defineTool, type Model } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, fails, hangs, says, streams } from 'keelson/testing';
import { agUIResponse, sseResponse, toUIMessageStream, type UINestedStep, uiMessageResponse } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { agUIClient } from '../../support/ui/ag-ui-client.js';
import { agentOf, drawnRuns, helperOf, prompt } from '../../support/ui/nested-agents.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { readChunks, readMessage } from '../../support/ui/read-ui-message.js';

/** An agent whose helper calls a tool, and another helper. */
function captain() {
  const script = [
    says('Looking.', {
      calls: [
        { name: 'sonar', id: 's', input: { at: 'bow' } },
        { name: 'diver', id: 'd', input: prompt },
      ],
    }),
    streams(['Clear', ' water.']),
  ];
  const tools = [toolOf('sonar', () => ({ metres: 12 })), helperOf('diver', ['A rope.'])];
  return agentOf('captain', [calls({ name: 'pilot', id: 'p', input: prompt }), 'Go on.'], {
    tools: [helperOf('pilot', script, { tools })],
  });
}

const drawn = [
  'p pilot completed',
  '  1: Looking.',
  '  1: sonar s done {"at":"bow"} {"metres":12}',
  '  1: diver d done {"prompt":"Go."} "A rope."',
  '  2: Clear water.',
  'p/d diver completed',
  '  1: A rope.',
];

describe('a page gets the runs inside of tool calls', () => {
  test('as data parts of the AI SDK', async () => {
    const response = uiMessageResponse(captain().stream('Go.', { nested: true }));
    const { parts } = await readMessage(await readChunks(response));

    expect(drawnRuns(parts)).toEqual(drawn);
    expect(parts.find(({ type }) => type === 'tool-pilot')).toMatchObject({ output: 'Clear water.' });
    expect(parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))).toEqual(['Go on.']);
  });

  test('as activities of AG-UI', async () => {
    const respond = () => agUIResponse(captain().stream('Go.', { nested: true }), { threadId: 't1' });
    const { client, run } = agUIClient(respond, [{ id: 'q', role: 'user', content: 'Go.' }]);
    await run();

    const activities = client.messages.flatMap((message) =>
      message.role === 'activity' ? [{ type: message.activityType, data: message.content }] : [],
    );
    expect(drawnRuns(activities)).toEqual(drawn);
    expect(client.messages.map(({ role }) => role).filter((role) => role !== 'activity')).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('as plain events with their path and their run', async () => {
    const events = await readSSE(sseResponse(captain().stream('Go.', { nested: true })));
    const data = events.map((event) => event.data as Record<string, unknown>);
    const inside = data.filter(({ path }) => path !== undefined);

    expect(inside[0]).toEqual({
      type: 'run-start',
      runId: expect.stringMatching(/:p\/1$/),
      agent: 'pilot',
      path: ['p'],
    });
    expect(inside.find(({ type, path }) => type === 'run-end' && String(path) === 'p,d')).toMatchObject({
      runId: expect.stringMatching(/:d\/1$/),
      result: { status: 'completed', text: 'A rope.' },
    });
    const own = await readSSE(sseResponse(captain().stream('Go.')));
    const types = (list: readonly { readonly type?: unknown }[]) =>
      list.map(({ type }) => type).filter((type) => type !== 'text-delta');
    const outside = data.filter(({ path }) => path === undefined);
    expect(types(outside)).toEqual(types(own.map((event) => event.data as object)));
  });
});

/** Returns the runs inside of the calls of an agent as a page of the AI SDK draws them. */
async function drawnOf(tool: AgentOptions['tools'], page: Parameters<typeof uiMessageResponse>[1] = {}) {
  const agent = agentOf('boss', [calls({ name: 'helper', id: 'h', input: prompt }), 'Done.'], {
    tools: tool,
    logger: keepingLogger(),
  });
  const response = uiMessageResponse(agent.stream('Go.', { nested: true }), page);
  return drawnRuns((await readMessage(await readChunks(response))).parts);
}

describe('a page sees why', () => {
  test('a run inside has failed', async () => {
    const failing = helperOf('helper', [streams(['Hm'], fails('the key sk-123'))]);

    expect(await drawnOf([failing])).toEqual(['h helper failed The run failed (ERR_MODEL_FAILED).']);
    expect(await drawnOf([failing], { errorText: () => 'No line.' })).toEqual(['h helper failed No line.']);
  });

  test('a call inside has failed', async () => {
    const sonar = toolOf('sonar', () => {
      throw new TypeError('cannot read /srv');
    });
    const helper = helperOf('helper', [calls({ name: 'sonar', id: 's' }), 'Blind.'], { tools: [sonar] });

    expect(await drawnOf([helper])).toEqual([
      'h helper completed',
      '  1: sonar s failed {} The tool failed.',
      '  2: Blind.',
    ]);
  });

  test('a run inside has stopped: its call has a result without it', async () => {
    const inner = agentOf('inner', [streams(['Half']), hangs()]);
    const helper = defineTool({
      name: 'helper',
      description: 'Leaves.',
      input: z.object({ prompt: z.string() }),
      execute: async (_input, { run: parent }) => {
        const stream = inner.stream('Go.', { parent });
        for await (const { type } of stream) if (type === 'text-delta') break;
        return 'I left.';
      },
    });

    expect(await drawnOf([helper])).toEqual(['h inner stopped', '  1: Half']);
  });

  test('a call inside waits, unless the page must not decide', async () => {
    const helper = helperOf('helper', [calls({ name: 'pay', id: 'c', input: { euro: 4 } })], {
      tools: [toolOf('pay', () => 'paid')],
      lifecycle: [approval({ tools: ['pay'] })],
    });
    const waits = ['h helper suspended', '  1: pay c pending {"euro":4} "pay" needs approval. approval'];

    expect(await drawnOf([helper])).toEqual(waits);
    expect(await drawnOf([helper], { decides: false })).toEqual([
      'h helper suspended',
      '  1: pay c running {"euro":4}',
    ]);
  });
});

test('the text of a turn inside is sent at most five times', async () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `word ${index} `);
  const slow: Model = {
    id: 'slow',
    async generate({ onPart }) {
      for (const text of words) {
        onPart?.({ type: 'text-delta', text });
        await setImmediate();
      }
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      return { content: [{ type: 'text', text: words.join('') }], finishReason: 'stop', usage };
    },
  };
  const helper = new Agent({ name: 'helper', model: slow }).asTool({ description: 'Helps.' });
  const agent = agentOf('boss', [calls({ name: 'helper', id: 'h', input: prompt }), 'Done.'], { tools: [helper] });
  const sent: string[] = [];
  for await (const chunk of toUIMessageStream(agent.stream('Go.', { nested: true }))) {
    if (chunk.type === 'data-nested-step') sent.push((chunk.data as UINestedStep).text);
  }

  const { length } = words.join('');
  expect(sent.at(-1) === words.join('')).toBe(true);
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.join('').length).toBeLessThan(5 * length);
  for (const [at, text] of sent.entries()) expect(text.startsWith(sent[at - 1] ?? '')).toBe(true);
});
