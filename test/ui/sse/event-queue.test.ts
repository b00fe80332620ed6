import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, defineTool, type Model, type ModelPart } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler, type ProtocolName } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { post } from '../../support/ui/chat-client.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const MESSAGES: Readonly<Record<ProtocolName, unknown>> = {
  'ai-sdk': { id: 'chat', messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
  'ai-sdk-6': { id: 'chat', messages: [{ id: 'x', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
  'ag-ui': { threadId: 'chat', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'Hi' }] },
  sse: { id: 'chat', message: 'Hi' },
};
const PROTOCOLS = Object.keys(MESSAGES) as ProtocolName[];

/** A model that streams many parts, and measures the heap before and after. */
function modelOf(count: number, partOf: (index: number) => ModelPart): Model & { grown: number } {
  const model = {
    id: 'long',
    grown: 0,
    async generate({ onPart }: Parameters<Model['generate']>[0]) {
      const before = heapUsed();
      for (let index = 0; index < count; index += 1) {
        onPart?.(partOf(index));
        if (index % 100 === 0) await setImmediate();
      }
      await setImmediate();
      model.grown = heapUsed() - before;
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      return { content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop', usage } as const;
    },
  };
  return model;
}

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const COUNT = 50_000;

test.each(PROTOCOLS)('needs little memory per waiting delta of text, with the protocol %s', async (protocol) => {
  const model = modelOf(COUNT, (index) => ({ type: 'text-delta', text: `${index % 10} ` }));
  await runWithoutReader(new Agent({ model }), protocol);

  expect(model.grown / COUNT).toBeLessThan(200);
});

test.each(PROTOCOLS)('joins the waiting arguments of parallel tool calls, with the protocol %s', async (protocol) => {
  const model = modelOf(COUNT, (index) => ({ type: 'tool-input-delta', id: `c${index % 3}`, name: 'x', text: '12' }));
  await runWithoutReader(new Agent({ model }), protocol);

  expect(model.grown / COUNT).toBeLessThan(100);
});

test.each(PROTOCOLS)(
  'keeps only the latest progress of parallel tool calls, with the protocol %s',
  async (protocol) => {
    let grown = 0;
    const busy = defineTool({
      name: 'busy',
      description: 'Reports much progress.',
      input: z.object({ n: z.number() }),
      execute: async ({ n }, { progress }) => {
        const before = heapUsed();
        for (let index = 0; index < 2_000; index += 1) {
          progress({ index, pad: Array.from({ length: 100 }, () => index) });
          await setImmediate();
        }
        if (n === 1) grown = heapUsed() - before;
        return 'done';
      },
    });
    const script = [calls({ name: 'busy', input: { n: 1 } }, { name: 'busy', input: { n: 2 } }), 'Done.'];
    await runWithoutReader(new Agent({ model: scriptedModel(script), tools: [busy] }), protocol);

    expect(grown).toBeLessThan(1_000_000);
  },
);

/** Sends a message, and reads nothing of the response until the run has ended. */
async function runWithoutReader(agent: Agent, protocol: ProtocolName): Promise<void> {
  const ended = new Promise((resolve) => agent.once('run-end', resolve));
  const handler = createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => id,
    protocol,
    onDisconnect: 'abort',
  });
  const response = await post(handler, '', MESSAGES[protocol]);
  await ended;
  expect(await response.text()).toContain('Done.');
}
