import { quote } from '../script/describe-messages.js';

/**
 * Describes the first difference between two values. Returns undefined if the values are equal.
 * Treats an undefined member as missing.
 */
export function differenceOf(actual: unknown, expected: unknown, path = ''): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (!isCompound(actual) || !isCompound(expected) || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path || 'the value'} is ${show(actual)}, not ${show(expected)}`;
  }
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return `${path || 'the list'} has ${actual.length} entries, not ${expected.length}`;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const at = Array.isArray(expected) ? `${path}[${key}]` : [path, key].filter(Boolean).join('.');
    const found = differenceOf(actual[key], expected[key], at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isCompound(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (!isCompound(value)) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
}
