import type { Usage } from './model.js';

/** A running sum of tokens. Counts that are missing or no numbers add nothing. */
export class UsageTotal implements Usage {
  inputTokens = 0;
  outputTokens = 0;
  totalTokens = 0;
  cachedInputTokens: number | undefined = undefined;
  reasoningTokens: number | undefined = undefined;

  add(usage: Usage | undefined): void {
    if (usage === undefined || usage === null) return;
    const input = count(usage.inputTokens);
    const output = count(usage.outputTokens);
    this.inputTokens += input;
    this.outputTokens += output;
    this.totalTokens += count(usage.totalTokens) || input + output;
    if (usage.cachedInputTokens !== undefined) {
      this.cachedInputTokens = (this.cachedInputTokens ?? 0) + count(usage.cachedInputTokens);
    }
    if (usage.reasoningTokens !== undefined) {
      this.reasoningTokens = (this.reasoningTokens ?? 0) + count(usage.reasoningTokens);
    }
  }

  /** The sum so far, as plain data. */
  snapshot(): Usage {
    const { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens } = this;
    const sum: { -readonly [Key in keyof Usage]: Usage[Key] } = { inputTokens, outputTokens, totalTokens };
    if (cachedInputTokens !== undefined) sum.cachedInputTokens = cachedInputTokens;
    if (reasoningTokens !== undefined) sum.reasoningTokens = reasoningTokens;
    return sum;
  }
}

function count(value: number | undefined): number {
  return typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY ? value : 0;
}
