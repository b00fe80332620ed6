import { quote } from '../script/describe-messages.js';

/** Stands for any number in an expected value. */
export const anyNumber: unique symbol = Symbol('any number');

/** Options of a comparison. */
export interface Comparison {
  /** The path of the compared values, with which the description begins. */
  readonly path?: string;
  /** If true, compares only the members that the expected objects have. */
  readonly isPartial?: boolean;
}

/**
 * Describes the first difference between two values. Returns undefined if the values are equal.
 * Treats an undefined member as missing.
 */
export function differenceOf(actual: unknown, expected: unknown, options: Comparison = {}): string | undefined {
  const { path = '', isPartial = false } = options;
  if (Object.is(actual, expected) || (expected === anyNumber && typeof actual === 'number')) return undefined;
  if (!isCompound(actual) || !isCompound(expected) || kindOf(actual) !== kindOf(expected)) {
    return `${path || 'the value'} is ${show(actual)}, not ${show(expected)}`;
  }
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return `${path || 'the list'} has ${actual.length} entries, not ${expected.length}`;
  }
  for (const key of new Set([...Object.keys(expected), ...(isPartial ? [] : Object.keys(actual))])) {
    const at = Array.isArray(expected) ? `${path}[${key}]` : [path, key].filter(Boolean).join('.');
    const found = differenceOf(actual[key], expected[key], { path: at, isPartial });
    if (found !== undefined) return found;
  }
  return undefined;
}

function isCompound(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function kindOf(value: object): string {
  if (Array.isArray(value)) return 'list';
  return value instanceof Uint8Array ? 'bytes' : 'object';
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (!isCompound(value)) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
}
