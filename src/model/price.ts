import { OptionInvalidError } from '../errors.js';
import { group, numberRule, required } from '../internal/options/rules.js';
import type { OptionTable } from '../internal/options/validate.js';
import type { Usage } from './model.js';

/** Prices of a model in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input tokens that were read from a cache. Default: `input`. */
  readonly cachedInput?: number | undefined;
  /** Input tokens that were written to a cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
}

const amount = numberRule('a number of US dollars of 0 or more', 0);

/** Validates one price. */
export const priceRule = group({
  input: required(amount),
  output: required(amount),
  cachedInput: amount,
  cacheWrite: amount,
} satisfies OptionTable<ModelPrice>);

/**
 * Returns the price of a model. Throws an OptionInvalidError if the price is missing, because the cost would be
 * unknown.
 */
export function priceOf(prices: Readonly<Record<string, ModelPrice>>, model: string): ModelPrice {
  const price = findPrice(prices, model);
  if (price !== undefined) return price;
  throw new OptionInvalidError('prices', missingPrice(model));
}

/** Returns the price of a model, or undefined if `prices` has no such model. */
export function findPrice(prices: Readonly<Record<string, ModelPrice>>, model: string): ModelPrice | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}

/** Returns the message for a missing price. */
export function missingPrice(model: string): string {
  return `\`prices\` must have a price for each model that is called, got none for ${JSON.stringify(model)}: add it`;
}

/** Returns the cost of a usage in US dollars. Input tokens include cached tokens and tokens written to the cache. */
export function costOf(usage: Usage | undefined, price: ModelPrice): number {
  const {
    inputTokens = 0,
    outputTokens = 0,
    cachedInputTokens: cached = 0,
    cacheWriteTokens: written = 0,
  } = usage ?? {};
  const plain = Math.max(0, inputTokens - cached - written);
  const { input, output, cachedInput = input, cacheWrite = input } = price;
  return (plain * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / 1_000_000;
}
