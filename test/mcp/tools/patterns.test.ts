import { describe, expect, test } from 'vitest';
import { toolFilter } from '../../../src/mcp/server/tool-list.js';

describe('patterns of tool names', () => {
  test.each([
    [undefined, [], 'a', true],
    [[], [], 'a', false],
    [['a*c'], [], 'abc', true],
    [['a*c'], [], 'ac', true],
    [['a*a'], [], 'a', false],
    [['*b*'], [], 'abc', true],
    [['a.c'], [], 'abc', false],
    [['*'], ['ab*'], 'abc', false],
    [['a*b*c'], [], 'a-b-b-c', true],
  ] as const)(
    'with includeTools %j and excludeTools %j, the tool %s is offered: %s',
    (...[include, exclude, name, expected]) => {
      expect(toolFilter(include, exclude)(name)).toBe(expected);
    },
  );

  test('with many stars are matched quickly', () => {
    expect(toolFilter([`${'*a'.repeat(5_000)}b`], [])('a'.repeat(20_000))).toBe(false);
  });
});
