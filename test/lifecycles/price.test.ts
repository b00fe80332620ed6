import { Agent, type AgentLifecycle, defineTool, HookAction, type RunError, type Usage } from 'keelson';
import {
  compaction,
  fallbackModels,
  type LimitReached,
  type LimitsOptions,
  limits,
  type ModelPrice,
  retryModelCalls,
} from 'keelson/lifecycles';
import { calls, fails, responds, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { resultsIn } from '../support/agent/transcript.js';

const usage: Usage = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000 };
const call = { type: 'tool-call', id: 'c', name: 'echo', input: { text: 'a' } };
const step = () => responds({ content: [call], finishReason: 'tool-calls', usage });
const named = (id: string, ...script: Parameters<typeof scriptedModel>) =>
  Object.assign(scriptedModel(...script), { id });

/** Returns the cost that `limits` counts for one model call. */
async function costOf(used: Usage, price: ModelPrice): Promise<number | undefined> {
  const reached: LimitReached[] = [];
  const onLimit = (limit: LimitReached) => {
    reached.push(limit);
    return HookAction.respond('Enough.');
  };
  const model = named('m', () => responds({ content: [call], finishReason: 'tool-calls', usage: used }));
  const budget = limits({ usd: 1e-9, prices: { m: price }, onLimit });
  await new Agent({ model, tools: [echo], lifecycle: [budget], logger: keepingLogger() }).run('Hi');
  return reached[0]?.used;
}

test('the cost counts cached and written tokens with their own prices', async () => {
  const price = { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 };
  const cached = { ...usage, cachedInputTokens: 500_000, cacheWriteTokens: 100_000 };

  expect(await costOf(usage, price)).toBeCloseTo(3);
  expect(await costOf(cached, price)).toBeCloseTo(0.8 + 0.1 + 0.25 + 1);
  expect(await costOf(cached, { input: 2, output: 10 })).toBeCloseTo(3);
});

test('a run ends before the model call after its budget is spent', async () => {
  const model = named('m', step);
  const budget = limits({ usd: 5, prices: { m: { input: 2, output: 10 } } });
  const agent = new Agent({ model, tools: [echo], lifecycle: [budget], logger: keepingLogger() });

  const error = await rejectionOf(agent.run('Hello'));

  expect(error).toMatchObject({ by: 'limits', reason: 'The run reached its limit of 5 US dollars (6 used).' });
  expect(model.requests).toHaveLength(2);
});

test('each model has its own price, and an answer within the budget is valid', async () => {
  const first = named('first', () => fails({ message: 'down', status: 503 }));
  const second = named('second', [step(), says('Done.')]);
  const prices = { first: { input: 1000, output: 1000 }, second: { input: 1, output: 0 } };
  const lifecycle = [fallbackModels([second]), retryModelCalls({ maxRetries: 0 }), limits({ usd: 1.5, prices })];

  expect((await new Agent({ model: first, tools: [echo], lifecycle, logger: keepingLogger() }).run('Hi')).text).toBe(
    'Done.',
  );
});

test('a model without a price is not called', async () => {
  const model = named('toString', 'Hello.');
  const agent = new Agent({ model, lifecycle: [limits({ usd: 1, prices: {} })], logger: keepingLogger() });

  expect(await rejectionOf(agent.run('Hi'))).toMatchObject({
    by: 'limits',
    message: expect.stringContaining(
      '`prices` must have a price for each model that is called, got none for "toString"',
    ),
  });
  expect(model.requests).toHaveLength(0);
});

describe('the budget of a run with subagents', () => {
  /** Makes an agent with a budget and a subagent, which calls its tool `turns` times. */
  function arrange(turns: number, options: Partial<LimitsOptions> = {}, lifecycle: readonly AgentLifecycle[] = []) {
    const cheap = named('cheap', [...Array.from({ length: turns }, () => step()), says('Found.')]);
    const helper = new Agent({ name: 'helper', model: cheap, tools: [echo], lifecycle, logger: keepingLogger() });
    const ask = responds({
      content: [{ type: 'tool-call', id: 'h', name: 'helper', input: { prompt: 'Search.' } }],
      finishReason: 'tool-calls',
      usage: { inputTokens: 1_000_000, outputTokens: 0, totalTokens: 1_000_000 },
    });
    const dear = named('dear', [ask, says('Done.')]);
    const prices = { dear: { input: 1, output: 0 }, cheap: { input: 0.5, output: 0 } };
    const budget = limits({ usd: 2, prices, ...options });
    const tools = [helper.asTool({ description: 'Searches.' })];
    return { agent: new Agent({ model: dear, tools, lifecycle: [budget], logger: keepingLogger() }), cheap, dear };
  }

  test('counts the model calls of a subagent by the price of its model', async () => {
    const { agent, dear, cheap } = arrange(2);

    const error = await rejectionOf(agent.run('Hi'));

    expect(error).toMatchObject({ by: 'limits', reason: 'The run reached its limit of 2 US dollars (2 used).' });
    expect([dear.requests.length, cheap.requests.length]).toEqual([1, 2]);
  });

  test('refuses further model calls of a subagent once it is spent, without retries', async () => {
    const { agent, cheap } = arrange(100, {}, [retryModelCalls({ maxDelayMs: 1 })]);

    const error = (await rejectionOf(agent.run('Hi'))) as RunError;

    expect(cheap.requests).toHaveLength(2);
    expect(resultsIn(error.messages)).toEqual({
      h: '!Agent "helper" failed: The run was rejected by "limits" in wrapModelCall: The run of agent "agent" reached its limit of 2 US dollars (2 used).',
    });
  });

  test('is large enough for a subagent that spends less', async () => {
    const { agent, cheap } = arrange(2, { usd: 2.1 });

    expect((await agent.run('Hi')).text).toBe('Done.');
    expect(cheap.requests).toHaveLength(3);
  });

  test('refuses a subagent whose model has no price', async () => {
    const { agent, cheap } = arrange(1, { prices: { dear: { input: 1, output: 0 } } });

    const { messages } = await agent.run('Hi');

    expect(resultsIn(messages).h).toContain(
      '`prices` must have a price for each model that is called, got none for "cheap"',
    );
    expect(cheap.requests).toHaveLength(0);
  });

  test('covers subagents of subagents, and runs with `parent`', async () => {
    const inner = new Agent({ name: 'inner', model: named('cheap', [step(), says('Deep.')]), tools: [echo] });
    const byHand = defineTool({
      name: 'by_hand',
      description: 'Asks the inner agent.',
      input: { type: 'object' },
      execute: async (_args, { run }) => (await inner.run('Go', { parent: run })).text,
    });
    const middleModel = named('cheap', [calls('by_hand', {}), says('Mid.')]);
    const middle = new Agent({ name: 'middle', model: middleModel, tools: [byHand], logger: keepingLogger() });
    const model = named('dear', [calls('middle', { prompt: 'Go' }), says('Done.')]);
    const prices = { dear: { input: 0, output: 0 }, cheap: { input: 1, output: 0 } };
    const reached: LimitReached[] = [];
    const onLimit = (limit: LimitReached) => {
      reached.push(limit);
      return HookAction.respond('Enough.');
    };
    const tools = [middle.asTool({ description: 'Asks.' })];
    const agent = new Agent({
      model,
      tools,
      lifecycle: [limits({ usd: 1, prices, onLimit })],
      logger: keepingLogger(),
    });

    expect((await agent.run('Hi')).text).toBe('Enough.');
    expect(reached).toEqual([{ limit: 'usd', max: 1, used: expect.closeTo(1, 4) }]);
    expect(middleModel.requests).toHaveLength(1);
  });

  test('counts the summaries of `compaction`', async () => {
    const summary = responds({ content: [{ type: 'text', text: 'Sum.' }], finishReason: 'stop', usage });
    const model = named('m', ({ messages }) =>
      String(messages[0]?.content).includes('summary') ? summary : calls('echo', { text: 'x'.repeat(400) }),
    );
    const lifecycle = [
      limits({ usd: 1, prices: { m: { input: 1, output: 0 } } }),
      compaction({ maxMessages: 4, keep: 1 }),
    ];
    const agent = new Agent({ model, tools: [echo], maxTurns: 50, lifecycle, logger: keepingLogger() });

    expect(await rejectionOf(agent.run('Hi'))).toMatchObject({ by: 'limits' });
  });
});
