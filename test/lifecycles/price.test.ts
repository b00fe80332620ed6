import { expect, test } from 'vitest';
import { Agent, type Usage } from '../../src/index.js';
import { fallbackModels, limits, retryModelCalls } from '../../src/lifecycles/lifecycles.js';
import { costOf } from '../../src/lifecycles/price.js';
import { fails, responds, says, scriptedModel } from '../../src/testing/testing.js';
import { echo } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const usage: Usage = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000 };
const call = { type: 'tool-call', id: 'c', name: 'echo', input: { text: 'a' } };
const step = () => responds({ content: [call], finishReason: 'tool-calls', usage });
const named = (id: string, ...script: Parameters<typeof scriptedModel>) =>
  Object.assign(scriptedModel(...script), { id });

test('the cost counts cached and written tokens with their own prices', () => {
  const price = { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 };
  const cached = { ...usage, cachedInputTokens: 500_000, cacheWriteTokens: 100_000 };

  expect(costOf(usage, price)).toBeCloseTo(3);
  expect(costOf(cached, price)).toBeCloseTo(0.8 + 0.1 + 0.25 + 1);
  expect(costOf(cached, { input: 2, output: 10 })).toBeCloseTo(3);
  expect(costOf(undefined, price)).toBe(0);
});

test('a run ends before the model call after its budget is spent', async () => {
  const model = named('m', step);
  const budget = limits({ usd: 5, prices: { m: { input: 2, output: 10 } } });
  const agent = new Agent({ model, tools: [echo], lifecycle: [budget], logger: keepingLogger() });

  const error = await rejectionOf(agent.run('Hello'));

  expect(error).toMatchObject({ by: 'limits', reason: 'The limit of 5 US dollars is used up (6).' });
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
