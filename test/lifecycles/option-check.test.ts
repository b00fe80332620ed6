import { expect, test } from 'vitest';
import { OptionInvalidError } from '../../src/errors.js';
import { Agent, type AgentLifecycle } from '../../src/index.js';
import * as lifecycles from '../../src/lifecycles/lifecycles.js';
import { scriptedModel } from '../../src/testing/testing.js';

const { approval, compaction, fallbackModels, limits, retryModelCalls, truncateToolResults } = lifecycles;
const model = scriptedModel('Hello.');

/** Calls a factory as one does who has no types. */
const untyped = (factory: (options: never) => unknown, options: unknown) => () => factory(options as never);

const wrong: readonly [string, () => unknown, string][] = [
  ['maxRetries', untyped(retryModelCalls, { maxRetries: -1 }), 'it is -1; give a whole number of 0 or more'],
  ['initialDelayMs', untyped(retryModelCalls, { initialDelayMs: '1' }), 'it is "1"; give milliseconds from 0'],
  ['maxDelayMs', untyped(retryModelCalls, { maxDelayMs: 2 ** 31 }), 'give milliseconds from 0 to 2147483647'],
  ['retryOn', untyped(retryModelCalls, { retryOn: true }), 'it is true, not a function'],
  ['random', untyped(retryModelCalls, { random: 0.5 }), 'it is 0.5, not a function'],
  [
    'retries',
    untyped(retryModelCalls, { retries: 1 }),
    'there is no such option; there are maxRetries, initialDelayMs',
  ],
  ['options', untyped(retryModelCalls, 3), 'it is 3; give an object'],
  ['options', untyped(retryModelCalls, null), 'it is null; give an object'],
  ['models', untyped(fallbackModels, []), 'give a list of one model or more'],
  ['models', untyped(fallbackModels, model), 'give a list of one model or more'],
  ['models[0]', untyped(fallbackModels, ['gpt']), 'it is "gpt", not a model with `generate`'],
  ['options', untyped(limits, {}), 'give at least one of modelCalls, toolCalls, tokens, perTool'],
  ['modelCalls', untyped(limits, { modelCalls: 0 }), 'it is 0; give a whole number of 1 or more'],
  ['toolCalls', untyped(limits, { toolCalls: 1.5 }), 'it is 1.5; give a whole number of 0 or more'],
  ['tokens', untyped(limits, { tokens: Number.NaN }), 'it is NaN; give a whole number of 1 or more'],
  ['perTool', untyped(limits, { perTool: ['a'] }), 'it is an array, not an object of numbers'],
  ['perTool.a', untyped(limits, { perTool: { a: undefined } }), 'give a whole number of 0 or more'],
  ['onLimit', untyped(limits, { tokens: 1, onLimit: 'reject' }), 'it is "reject", not a function'],
  ['tools', untyped(approval, { tools: 'pay' }), 'give a list of names'],
  ['when', untyped(approval, { when: ['pay'] }), 'it is an array, not a function'],
  ['ask', untyped(approval, { ask: {} }), 'it is an object, not a function'],
  ['approve', untyped(approval, { approve: 1 }), 'there are tools, when, ask'],
  ['maxTokens', untyped(compaction, {}), 'give either `maxTokens` or `maxMessages`'],
  ['maxTokens', untyped(compaction, { maxTokens: 1, maxMessages: 1 }), 'give either `maxTokens` or `maxMessages`'],
  ['maxTokens', untyped(compaction, { maxTokens: '100k' }), 'it is "100k"; give a whole number of 1 or more'],
  ['maxMessages', untyped(compaction, { maxMessages: 0 }), 'it is 0; give a whole number of 1 or more'],
  ['keep', untyped(compaction, { maxTokens: 1, keep: 0 }), 'it is 0; give a whole number of 1 or more'],
  ['model', untyped(compaction, { maxTokens: 1, model: 'gpt' }), 'it is "gpt", not a model with `generate`'],
  ['model', untyped(compaction, { maxTokens: 1, model, summarize: String }), '`summarize` takes its place'],
  ['summarize', untyped(compaction, { maxTokens: 1, summarize: 'short' }), 'it is "short", not a function'],
  ['maxChars', untyped(truncateToolResults, { maxChars: 0 }), 'it is 0; give a whole number of 1 or more'],
];

test.each(wrong)('%s is refused with what is wrong with it', (option, make, problem) => {
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

test('each has its name and its place, between the shell hooks that redact (95) and those that judge (10), or beside them', () => {
  expect(made.map(({ name, priority }) => `${priority} ${name}`)).toEqual([
    ...['96 truncate-tool-results', '40 fallback-models', '30 retry-model-calls', '20 limits', '15 compaction'],
    '5 approval',
  ]);
});

test('a spread changes the place', () => {
  const agent = new Agent({ model, lifecycle: [{ ...limits({ tokens: 1 }), name: 'budget', priority: 60 }] });
  expect(agent.status().lifecycles).toMatchObject([{ name: 'budget', priority: 60 }]);
});
