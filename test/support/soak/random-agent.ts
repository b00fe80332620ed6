import {
  Agent,
  type AgentLifecycle,
  HookAction,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type Tool,
} from 'keelson';
import { toolOf } from '../agent/sample-tools.js';

/** Returns a pseudorandom number from 0 to below 1. The same seed gives the same sequence. */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Waits for a random time. In 1% of calls never resolves, like a hook that hangs. */
async function hookMoment(random: Random): Promise<void> {
  if (random() < 0.01) await never();
  await moment(random);
}

/** Waits for a random time: not at all, some microtasks, or a few milliseconds. */
export async function moment(random: Random): Promise<void> {
  const kind = random();
  if (kind < 0.3) return;
  if (kind < 0.7) {
    for (let ticks = Math.floor(random() * 12); ticks > 0; ticks--) await undefined;
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * 4)));
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const never = () => new Promise<never>(() => {});

/** Never resolves. Rejects when the signal fires, if `heedsSignal` is true. */
function stuck(signal: AbortSignal | undefined, heedsSignal: boolean): Promise<never> {
  if (!heedsSignal || signal === undefined) return never();
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function randomModel(random: Random): Model {
  return {
    id: 'random',
    async generate({ messages, tools, signal, onPart }: ModelRequest): Promise<ModelResponse> {
      await moment(random);
      if (random() < 0.05) await stuck(signal, random() < 0.5);
      if (random() < 0.03) throw new Error('the model is down');
      onPart?.({ type: 'text-delta', text: 'Let me' });
      await moment(random);
      onPart?.({ type: 'text-delta', text: ' see.' });
      const text = { type: 'text', text: 'Let me see.' } as const;
      if (messages.length > 6 || random() < 0.4) return { content: [text], finishReason: 'stop', usage };
      const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => {
        const { name } = tools[Math.floor(random() * tools.length)] ?? { name: 'none' };
        return { type: 'tool-call', id: `c${messages.length}-${index}`, name, input: { prompt: 'x' } } as const;
      });
      return { content: [text, ...calls], finishReason: 'tool-calls', usage };
    },
  };
}

function randomTools(random: Random): readonly Tool[] {
  return [
    toolOf('quick', () => 'ok'),
    toolOf('slow', async () => {
      await moment(random);
      return { n: 1 };
    }),
    toolOf('stuck', (_input, { signal }) => stuck(signal, random() < 0.5)),
    { ...toolOf('bounded', never), timeoutMs: 2 },
    toolOf('faulty', async (_input, { signal }) => {
      await moment(random);
      throw signal.aborted ? signal.reason : new Error('broken');
    }),
  ];
}

function randomLifecycle(random: Random, priority: number): AgentLifecycle {
  return {
    priority,
    onFailure: 'continue',
    beforeAgent: () => hookMoment(random),
    beforeModel: async (messages) => {
      await hookMoment(random);
      return random() < 0.2 ? [...messages] : undefined;
    },
    beforeToolSelection: () => (random() < 0.5 ? undefined : hookMoment(random)),
    wrapModelCall: async (request, next) => {
      await hookMoment(random);
      const response = await next(request);
      await hookMoment(random);
      return response;
    },
    afterModel: async (_response, run) => {
      await hookMoment(random);
      if (random() < 0.02) return HookAction.reject('no');
      if (random() < 0.02) run.end(HookAction.respond('enough'));
      return undefined;
    },
    wrapToolCall: async (call, next) => {
      await hookMoment(random);
      if (random() < 0.02) return HookAction.suspend('ask');
      return next({ ...call, input: { prompt: 'y' } });
    },
    afterAgent: () => hookMoment(random).then(() => undefined),
    onError: () => moment(random),
  };
}

/** Creates an agent whose model, tools and hooks take random times. One of its tools is a sub-agent. */
export function randomAgent(random: Random, hooked: boolean): Agent {
  const model = randomModel(random);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const helper = new Agent({ name: 'helper', model, tools: randomTools(random), maxTurns: 2, logger });
  return new Agent({
    model,
    tools: [...randomTools(random), helper.asTool({ description: 'Helps.' })],
    lifecycle: hooked ? [randomLifecycle(random, 90), randomLifecycle(random, 10)] : [],
    maxTurns: { limit: 3, atLimit: hooked ? 'throw' : 'answer' },
    logger,
  });
}
