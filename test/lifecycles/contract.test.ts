import type { AgentLifecycle } from 'keelson';
import { approval, compaction, fallbackModels, limits, retryModelCalls, truncateToolResults } from 'keelson/lifecycles';
import { assertLifecycle, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';

const retry = () => retryModelCalls({ initialDelayMs: 1 });

/** Lifecycles whose options make them change nothing. */
const passive: readonly [string, () => AgentLifecycle][] = [
  ['retry without retries', () => retryModelCalls({ maxRetries: 0 })],
  [
    'limits that are not reached',
    () => limits({ modelCalls: 100, toolCalls: 100, tokens: 1e6, perTool: { trial_echo: 100 } }),
  ],
  ['approval of other tools', () => approval({ tools: ['erase'], optional: true })],
  ['compaction that is not reached', () => compaction({ maxTokens: 1e6 })],
  ['long results', () => truncateToolResults()],
];

const active: readonly [string, () => AgentLifecycle][] = [
  ['retry', retry],
  ['fallback', () => fallbackModels([scriptedModel('From the other one.')])],
  ['limits of one model call', () => limits({ modelCalls: 1 })],
  ['limits of one tool call', () => limits({ toolCalls: 1 })],
  ['limits of a tool', () => limits({ perTool: { trial_echo: 1 } })],
  ['approval that suspends', () => approval()],
  ['approval that approves', () => approval({ ask: () => 'approve' })],
  ['approval that denies', () => approval({ ask: async () => 'deny' as const })],
  ['compaction by a function', () => compaction({ maxMessages: 2, summarize: (messages) => JSON.stringify(messages) })],
  ["compaction by the run's model", () => compaction({ maxMessages: 2, keep: 1 })],
  ['compaction by tokens', () => compaction({ maxTokens: 10, keep: 1 })],
  ['short results', () => truncateToolResults({ maxChars: 10 })],
];

test.each(passive)('%s keeps the contract, and changes nothing', async (_title, make) => {
  expect(await assertLifecycle(make, { passive: true, runs: 20 })).toContain('passive');
});

test.each(active)('one instance of %s keeps the contract in a whole assertion', async (_title, make) => {
  expect(await assertLifecycle(make(), { runs: 20 })).toContain('concurrency');
});
