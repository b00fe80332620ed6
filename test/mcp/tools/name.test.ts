import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverSegment, toolName } from '../../../src/mcp/tools/name.js';

const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;

/** Parts of names that are likely to collide: few letters, separators, and the ends of shortened names. */
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

test('F9: different tools have different names, which every model provider accepts', () => {
  fc.assert(
    fc.property(fc.tuple(name, name), fc.tuple(name, name), ([server, tool], [otherServer, otherTool]) => {
      const [first, second] = [toolName(server, tool), toolName(otherServer, otherTool)];
      expect(first).toMatch(LEGAL);
      expect(first === second).toBe(server === otherServer && tool === otherTool);
    }),
    { numRuns: 5_000 },
  );
});

test('F9: a name that looks like a shortened name is shortened too', () => {
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

test('different servers have different segments in tool names', () => {
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
])('keeps the server %s and the tool %s unchanged in a tool name', (server, tool, expected) => {
  expect(toolName(server, tool)).toBe(expected);
});

test.each([
  ['a.b', 'c', /^mcp__a_b-x[0-9a-z]{12}__c$/],
  ['a', 'read file', /^mcp__a__read_file-x[0-9a-z]{12}$/],
  ['a__b', 'c', /^mcp__a_b-x[0-9a-z]{12}__c$/],
  ['a', 'b'.repeat(200), /^mcp__a__b{42}-x[0-9a-z]{12}$/],
])('shortens the server %s and the tool %s, always to the same name', (server, tool, expected) => {
  expect(toolName(server, tool)).toMatch(expected);
  expect(toolName(server, tool)).toBe(toolName(server, tool));
});
