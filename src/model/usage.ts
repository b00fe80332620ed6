import type { Usage } from './model.js';

const MOST_TOKENS = Number.MAX_SAFE_INTEGER;

/** A running sum of token counts, mutated in place. */
export type UsageSum = { -readonly [Key in keyof Usage]: Usage[Key] };

/** Adds a usage to a sum. Missing, negative, non-finite and too large counts add nothing. */
export function addUsage(sum: UsageSum, usage: Usage | undefined): void {
  if (usage === undefined || usage === null) return;
  const input = count(usage.inputTokens);
  const output = count(usage.outputTokens);
  sum.inputTokens += input;
  sum.outputTokens += output;
  sum.totalTokens += count(usage.totalTokens) || input + output;
  if (
    usage.cachedInputTokens !== undefined ||
    usage.cacheWriteTokens !== undefined ||
    usage.reasoningTokens !== undefined
  ) {
    addDetails(sum, usage);
  }
}

const DETAILS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

// A separate function, so that the engine can inline the short caller into the run loop.
function addDetails(sum: UsageSum, usage: Usage): void {
  for (const name of DETAILS) {
    if (usage[name] !== undefined) sum[name] = (sum[name] ?? 0) + count(usage[name]);
  }
}

function count(value: number | undefined): number {
  return typeof value === 'number' && value > 0 && value <= MOST_TOKENS ? value : 0;
}
