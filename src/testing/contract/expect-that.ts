import { differenceOf } from '../trial/difference.js';
import { StoreContractError } from './error.js';

export { anyNumber } from '../trial/difference.js';

/** Claims about a value. Each throws a StoreContractError if it does not hold. */
export class Expectation {
  constructor(private readonly found: unknown) {}

  /** Compares data deeply. A member that is undefined equals a missing one. */
  equals(expected: unknown): void {
    this.check(differenceOf(this.found, expected) === undefined, { expected, relation: 'equal to' });
  }

  differsFrom(expected: unknown): void {
    this.check(differenceOf(this.found, expected) !== undefined, { expected, relation: 'different from' });
  }

  /** Compares only the members that `expected` has. */
  matches(expected: object): void {
    const isMatch = differenceOf(this.found, expected, { isPartial: true }) === undefined;
    this.check(isMatch, { expected, relation: 'an object with' });
  }

  hasLength(expected: number): void {
    const { length } = this.found as readonly unknown[];
    this.check(length === expected, { expected, relation: 'a list of length' });
  }

  isAtMost(expected: number): void {
    this.check((this.found as number) <= expected, { expected, relation: 'at most' });
  }

  isAtLeast(expected: number): void {
    this.check((this.found as number) >= expected, { expected, relation: 'at least' });
  }

  private check(isTrue: boolean, { expected, relation }: { readonly expected: unknown; readonly relation: string }) {
    if (isTrue) return;
    const { found } = this;
    throw new StoreContractError(`expected ${relation} ${shown(expected)}, got ${shown(found)}`, { expected, found });
  }
}

export function expectThat(found: unknown): Expectation {
  return new Expectation(found);
}

/** Rejects with a StoreContractError unless the call fails with an error that has these members. */
export async function expectFailure(call: () => unknown, expected: object): Promise<void> {
  let found: unknown;
  try {
    found = await call();
  } catch (error) {
    return expectThat(error).matches(expected);
  }
  throw new StoreContractError(`expected a failure with ${shown(expected)}, got ${shown(found)}`, { expected, found });
}

const MAX_SHOWN = 500;

function shown(value: unknown): string {
  const text = value instanceof Error ? `${value}` : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
