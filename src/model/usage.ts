import type { Usage } from './model.js';

/** A running sum of tokens: plain data, changed in place. */
export type UsageSum = { -readonly [Key in keyof Usage]: Usage[Key] };

/** Adds to a sum. Counts that are missing, or no numbers that a count can be, add nothing. */
export function addUsage(sum: UsageSum, usage: Usage | undefined): void {
  if (usage === undefined || usage === null) return;
  const input = count(usage.inputTokens);
  const output = count(usage.outputTokens);
  sum.inputTokens += input;
  sum.outputTokens += output;
  sum.totalTokens += count(usage.totalTokens) || input + output;
  if (usage.cachedInputTokens !== undefined) {
    sum.cachedInputTokens = (sum.cachedInputTokens ?? 0) + count(usage.cachedInputTokens);
  }
  if (usage.reasoningTokens !== undefined) {
    sum.reasoningTokens = (sum.reasoningTokens ?? 0) + count(usage.reasoningTokens);
  }
}

function count(value: number | undefined): number {
  return typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}
