import { expect, test } from 'vitest';
import { canonicalJson } from '../../../src/trust/fingerprint/canonical-json.js';

test.each([
  [new Map(), 'Map'],
  [Number.NaN, 'Number'],
  [1n, 'BigInt'],
  [() => {}, 'Function'],
  [new Date(0), 'Date'],
])('a value that JSON cannot represent is refused with its type: %s', (value, type) => {
  expect(() => canonicalJson({ value: value as never })).toThrow(
    expect.objectContaining({ problem: 'invalid', message: expect.stringContaining(`must be JSON, got ${type}.`) }),
  );
});
