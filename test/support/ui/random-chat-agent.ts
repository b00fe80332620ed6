import { Agent, type AgentLifecycle, defineTool, HookAction, type Model, type ModelResponse } from 'keelson';
import { approval, retryModelCalls } from 'keelson/lifecycles';
import { z } from 'zod';
import type { AssistantPart } from '../../../src/model/message.js';
import { moment, type Random } from '../soak/random-agent.js';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const TOOLS = ['quick', 'slow', 'broken', 'guarded'] as const;

/** Returns an agent with a random model: text, reasoning, tool calls, retries, failures and calls that never end. */
export function randomChatAgent(random: Random): Agent {
  const lifecycle: AgentLifecycle[] = [
    approval({ tools: ['guarded'] }),
    retryModelCalls({ maxRetries: 5 }),
    randomReviewer(random),
  ];
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  return new Agent({ model: randomModel(random), tools: tools(random), lifecycle, logger, maxTurns: 8 });
}

/** Suspends one answer in ten. Delays the text of half of the model calls. */
function randomReviewer(random: Random): AgentLifecycle {
  return {
    name: 'reviewer',
    holdStream: () => (random() < 0.5 ? () => undefined : undefined),
    afterModel: ({ content }) =>
      content.every(({ type }) => type !== 'tool-call') && random() < 0.1 ? HookAction.suspend('Read it.') : undefined,
  };
}

function randomModel(random: Random): Model {
  let count = 0;
  return {
    id: 'random',
    async generate({ signal, onPart, messages }): Promise<ModelResponse> {
      const content: AssistantPart[] = [];
      const streamsInput = random() < 0.5;
      if (random() < 0.3) content.push({ type: 'reasoning', text: await write('reasoning-delta') });
      await failAtRandom();
      if (random() < 0.8) content.push({ type: 'text', text: await write('text-delta') });
      if (random() < 0.04) await untilAborted(signal);
      const asks = random() < 0.6 && messages.at(-1)?.role !== 'tool';
      for (let left = asks ? 1 + Math.floor(random() * 3) : 0; left > 0; left -= 1) content.push(await call());
      await failAtRandom();
      const hasCalls = content.some(({ type }) => type === 'tool-call');
      if (!hasCalls) content.push({ type: 'text', text: await write('text-delta') });
      return { content, finishReason: hasCalls ? 'tool-calls' : 'stop', usage };

      async function write(type: 'text-delta' | 'reasoning-delta'): Promise<string> {
        let written = '';
        for (let words = 1 + Math.floor(random() * 5); words > 0; words -= 1) {
          const text = `word ${Math.floor(random() * 1000)} `;
          written += text;
          onPart?.({ type, text });
          await moment(random);
        }
        return written;
      }

      async function call(): Promise<AssistantPart> {
        count += 1;
        const id = `c${count}`;
        const name = TOOLS[Math.floor(random() * TOOLS.length)] ?? 'quick';
        const input = { n: Math.floor(random() * 100) };
        if (streamsInput) {
          for (const text of JSON.stringify(input).match(/.{1,3}/g) ?? []) {
            onPart?.({ type: 'tool-input-delta', id, name, text });
            await moment(random);
          }
        }
        return { type: 'tool-call', id, name, input };
      }
    },
  };

  async function failAtRandom(): Promise<void> {
    if (random() < 0.12) throw Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 1 });
    if (random() < 0.02) throw new TypeError('the model is down');
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function tools(random: Random) {
  return TOOLS.map((name) =>
    defineTool({
      name,
      description: `The ${name} tool.`,
      input: z.object({ n: z.number() }),
      execute: async ({ n }, { progress }) => {
        if (name === 'broken') throw new TypeError('cannot read /srv/secrets');
        if (name === 'slow') {
          progress({ done: 1 });
          await moment(random);
          progress({ done: 2 });
          await moment(random);
        }
        return random() < 0.5 ? { n } : `n is ${n}`;
      },
    }),
  );
}
