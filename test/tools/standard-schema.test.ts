import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssues, isStandardSchema } from '../../src/tools/standard-schema.js';

describe('isStandardSchema', () => {
  test.each([
    ['zod', z.string()],
    ['arktype, whose schemas are functions', type('string')],
    ['valibot', v.string()],
  ])('is true for %s', (_title, schema) => {
    expect(isStandardSchema(schema)).toBe(true);
  });

  test.each([
    ['null', null],
    ['a string', 'string'],
    ['a JSON Schema', { type: 'object' }],
    ['an object with an empty `~standard`', { '~standard': {} }],
    ['an object with `~standard` null', { '~standard': null }],
    ['a function', () => {}],
  ])('is false for %s', (_title, value) => {
    expect(isStandardSchema(value)).toBe(false);
  });
});

test('describeIssues names the path of each issue, given as keys or as segments', () => {
  expect(
    describeIssues([
      { message: 'bad' },
      { message: 'worse', path: [] },
      { message: 'wrong', path: ['a', 0, { key: 'b' }, Symbol.for('c')] },
    ]),
  ).toBe('bad; worse; a.0.b.Symbol(c): wrong');
});
