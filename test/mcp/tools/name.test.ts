import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverSegment, toolName } from '../../../src/mcp/tools/name.js';

const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;

/** Names that are made to collide: few letters, separators, long ones, and ones that look like shortened ones. */
const piece = fc.constantFrom(
  'a',
  'b',
  '_',
  '__',
  '-',
  '.',
  ' ',
  'A',
  'ä',
  '😀',
  '-x',
  '0123456789ab',
  '\u0000',
  'mcp__',
);
const name = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }),
  fc.tuple(fc.constantFrom('x'.repeat(30), 'y'.repeat(60)), fc.string()).map(([start, end]) => start + end),
);

test('F9: any two tools have two names, and each is one that every model provider takes', () => {
  fc.assert(
    fc.property(fc.tuple(name, name), fc.tuple(name, name), ([server, tool], [otherServer, otherTool]) => {
      const [one, other] = [toolName(server, tool), toolName(otherServer, otherTool)];
      expect(one).toMatch(LEGAL);
      expect(one === other).toBe(server === otherServer && tool === otherTool);
    }),
    { numRuns: 5_000 },
  );
});

test('F9: a name of a shortened one is shortened itself', () => {
  fc.assert(
    fc.property(name, name, (server, tool) => {
      const shown = toolName(server, tool);
      const [, serverPart = '', toolPart = ''] = /^mcp__((?:(?!__).)*)__(.*)$/s.exec(shown) ?? [];
      if (serverPart === server && toolPart === tool) return;
      expect(toolName(serverPart, toolPart)).not.toBe(shown);
    }),
    { numRuns: 2_000 },
  );
});

test('two servers never share what their tools are named by', () => {
  fc.assert(
    fc.property(name, name, (server, other) => {
      expect(serverSegment(server) === serverSegment(other)).toBe(server === other);
      expect(serverSegment(server)).toMatch(/^(?!_)(?!.*__)[A-Za-z0-9_-]{1,28}(?<!_)$/);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['files', 'read', 'mcp__files__read'],
  ['brave-search', 'web_search', 'mcp__brave-search__web_search'],
  ['a_b', '_c__d', 'mcp__a_b___c__d'],
  ['S1', 'a'.repeat(55), `mcp__S1__${'a'.repeat(55)}`],
])('%s and %s are kept as they are', (server, tool, expected) => {
  expect(toolName(server, tool)).toBe(expected);
});

test.each([
  ['a.b', 'c', /^mcp__a_b-x[0-9a-z]{12}__c$/],
  ['a', 'read file', /^mcp__a__read_file-x[0-9a-z]{12}$/],
  ['a__b', 'c', /^mcp__a_b-x[0-9a-z]{12}__c$/],
  ['a', 'b'.repeat(200), /^mcp__a__b{42}-x[0-9a-z]{12}$/],
])('%s and %s are shortened, the same way each time', (server, tool, expected) => {
  expect(toolName(server, tool)).toMatch(expected);
  expect(toolName(server, tool)).toBe(toolName(server, tool));
});
