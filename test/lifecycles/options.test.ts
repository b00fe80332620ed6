import { Agent, type AgentLifecycle, OptionInvalidError } from 'keelson';
import * as lifecycles from 'keelson/lifecycles';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';

const { approval, compaction, fallbackModels, limits, retryModelCalls, truncateToolResults } = lifecycles;
const model = scriptedModel('Hello.');

/** Calls a factory with options that the types do not allow. */
const untyped = (factory: (options: never) => unknown, options: unknown) => () => factory(options as never);

const wrong: readonly [string, () => unknown, string][] = [
  [
    'maxRetries',
    untyped(retryModelCalls, { maxRetries: -1 }),
    '`maxRetries` must be a whole number of 0 or more, got -1',
  ],
  [
    'initialDelayMs',
    untyped(retryModelCalls, { initialDelayMs: '1' }),
    '`initialDelayMs` must be milliseconds from 0 to 2147483647, got "1"',
  ],
  [
    'maxDelayMs',
    untyped(retryModelCalls, { maxDelayMs: 2 ** 31 }),
    '`maxDelayMs` must be milliseconds from 0 to 2147483647, got 2147483648',
  ],
  [
    'maxTokens',
    untyped(compaction, undefined),
    'exactly one of `maxTokens` and `maxMessages` must be set, got neither',
  ],
  ['retryOn', untyped(retryModelCalls, { retryOn: true }), '`retryOn` must be a function, got true'],
  ['random', untyped(retryModelCalls, { random: 0.5 }), '`random` must be a function, got 0.5'],
  ['retries', untyped(retryModelCalls, { retries: 1 }), 'unknown option `retries`; did you mean `maxRetries`?'],
  ['options', untyped(retryModelCalls, 3), '`options` must be an object, got 3'],
  ['options', untyped(retryModelCalls, null), '`options` must be an object, got null'],
  ['models', untyped(fallbackModels, []), '`models` must be an array with at least one model, got an array'],
  ['models', untyped(fallbackModels, model), '`models` must be an array, got an object'],
  ['models[0]', untyped(fallbackModels, ['gpt']), '`models[0]` must be a model with `id` and `generate`, got "gpt"'],
  [
    'options',
    untyped(limits, {}),
    '`options` must have at least one of modelCalls, toolCalls, tokens, usd, perTool, got none of them',
  ],
  ['prices', untyped(limits, { usd: 1 }), '`prices` must be set with `usd`, got `usd` alone'],
  ['usd', untyped(limits, { prices: {} }), '`usd` must be set with `prices`, got `prices` alone'],
  ['usd', untyped(limits, { usd: 0, prices: {} }), '`usd` must be a number of US dollars of more than 0, got 0'],
  [
    'prices.m.output',
    untyped(limits, { usd: 1, prices: { m: { input: 1 } } }),
    '`prices.m.output` must be a number of US dollars of 0 or more, got undefined',
  ],
  ['ttl', untyped(lifecycles.promptCache, { ttl: '1d' }), "`ttl` must be '5m' or '1h', got \"1d\""],
  [
    'on[0]',
    () => fallbackModels([model], { on: ['down' as never] }),
    "`on[0]` must be 'context-overflow', 'rate-limit', 'quota', 'overloaded', 'content-filter', 'auth', 'invalid-request', 'tool-format', 'empty', 'network' or 'unknown', got \"down\"",
  ],
  ['modelCalls', untyped(limits, { modelCalls: 0 }), '`modelCalls` must be a whole number of 1 or more, got 0'],
  ['toolCalls', untyped(limits, { toolCalls: 1.5 }), '`toolCalls` must be a whole number of 0 or more, got 1.5'],
  ['tokens', untyped(limits, { tokens: Number.NaN }), '`tokens` must be a whole number of 1 or more, got NaN'],
  ['perTool', untyped(limits, { perTool: ['a'] }), '`perTool` must be an object, got an array'],
  [
    'perTool.a',
    untyped(limits, { perTool: { a: undefined } }),
    '`perTool.a` must be a whole number of 0 or more, got undefined',
  ],
  ['onLimit', untyped(limits, { tokens: 1, onLimit: 'reject' }), '`onLimit` must be a function, got "reject"'],
  ['tools', untyped(approval, { tools: 'pay' }), '`tools` must be an array, got "pay"'],
  ['when', untyped(approval, { when: ['pay'] }), '`when` must be a function, got an array'],
  ['ask', untyped(approval, { ask: {} }), '`ask` must be a function, got an object'],
  ['approve', untyped(approval, { approve: 1 }), 'unknown option `approve`; known are tools, when, ask'],
  ['maxTokens', untyped(compaction, {}), 'exactly one of `maxTokens` and `maxMessages` must be set, got neither'],
  [
    'maxTokens',
    untyped(compaction, { maxTokens: 1, maxMessages: 1 }),
    'exactly one of `maxTokens` and `maxMessages` must be set, got both',
  ],
  [
    'maxTokens',
    untyped(compaction, { maxTokens: '100k' }),
    '`maxTokens` must be a whole number of 1 or more, got "100k"',
  ],
  ['maxMessages', untyped(compaction, { maxMessages: 0 }), '`maxMessages` must be a whole number of 1 or more, got 0'],
  ['keep', untyped(compaction, { maxTokens: 1, keep: 0 }), '`keep` must be a whole number of 1 or more, got 0'],
  [
    'model',
    untyped(compaction, { maxTokens: 1, model: 'gpt' }),
    '`model` must be a model with `id` and `generate`, got "gpt"',
  ],
  [
    'model',
    untyped(compaction, { maxTokens: 1, model, summarize: String }),
    '`model` and `summarize` must not both be set',
  ],
  [
    'summarize',
    untyped(compaction, { maxTokens: 1, summarize: 'short' }),
    '`summarize` must be a function, got "short"',
  ],
  ['maxChars', untyped(truncateToolResults, { maxChars: 0 }), '`maxChars` must be a whole number of 1 or more, got 0'],
];

test.each(wrong)('%s is refused with a message that describes the problem', (option, make, problem) => {
  let thrown: unknown;
  try {
    make();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(OptionInvalidError);
  expect(thrown).toMatchObject({ code: 'ERR_OPTION_INVALID', option });
  expect((thrown as Error).message).toContain(problem);
});

const made: readonly AgentLifecycle[] = [
  truncateToolResults(),
  fallbackModels([model]),
  retryModelCalls(),
  limits({ tokens: 1 }),
  compaction({ maxTokens: 1 }),
  approval(),
];

test('each lifecycle has its name and priority, in relation to the shell hooks that redact (95) and decide (10)', () => {
  expect(made.map(({ name, priority }) => `${priority} ${name}`)).toEqual([
    ...['96 truncate-tool-results', '40 fallback-models', '30 retry-model-calls', '20 limits', '15 compaction'],
    '5 approval',
  ]);
});

test('a spread changes the priority', () => {
  const agent = new Agent({ model, lifecycle: [{ ...limits({ tokens: 1 }), name: 'budget', priority: 60 }] });
  expect(agent.status().lifecycles).toMatchObject([{ name: 'budget', priority: 60 }]);
});
