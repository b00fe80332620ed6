import { expect, test } from 'vitest';
import type { HookDialect } from '../../../src/shell-hooks/hook/event.js';
import { resolveHook } from '../../../src/shell-hooks/hook/resolve-hook.js';

const compiled = (matcher: string | undefined, dialect: HookDialect = 'native') =>
  resolveHook({ event: 'before_tool', name: 'guard', command: 'true', matcher, dialect }, 'id');
const matches = (matcher: string | undefined, name: string, dialect: HookDialect = 'native') =>
  compiled(matcher, dialect).matches([name]);

test.each([undefined, '', '*', ' '])('a matcher of %j is for everything', (matcher) => {
  expect(matches(matcher, 'anything')).toBe(true);
});

test('B23: a name matches itself alone', () => {
  expect(matches('Edit', 'Edit')).toBe(true);
  expect(matches('Edit', 'MultiEdit')).toBe(false);
  expect(matches('mcp__brave-search', 'mcp__brave-search__x')).toBe(false);
  expect(matches('Edit|Write', 'Write')).toBe(true);
  expect(matches('Edit, Write', 'Write')).toBe(true);
  expect(matches('Edit|Write', 'Edit|Write')).toBe(false);
});

test('what is no list of names is a pattern', () => {
  expect(matches('mcp__.*', 'mcp__brave-search__x')).toBe(true);
  expect(matches('^Notebook', 'NotebookEdit')).toBe(true);
  expect(matches('^Notebook$', 'NotebookEdit')).toBe(false);
});

test('with Gemini every matcher is a pattern, and what is none is a name', () => {
  expect(matches('Edit', 'MultiEdit', 'gemini')).toBe(true);
  expect(matches('write_(', 'write_(', 'gemini')).toBe(true);
  expect(matches('write_(', 'write_file', 'gemini')).toBe(false);
});

test('with Codex a name with a hyphen is a pattern, and one without is a name', () => {
  expect(matches('mcp__brave-search', 'mcp__brave-search__query', 'codex')).toBe(true);
  expect(matches('Bash|Edit', 'Edit', 'codex')).toBe(true);
  expect(matches('Bash', 'BashOutput', 'codex')).toBe(false);
});

test('a list of names and * are told from a pattern', () => {
  const isPattern = (matcher: string, dialect: HookDialect) => compiled(matcher, dialect).isPattern;

  expect(['*', '', 'Edit|Write', 'a-b, c'].map((matcher) => isPattern(matcher, 'claude'))).toEqual(
    Array(4).fill(false),
  );
  expect(['^Edit$', 'mcp__.*', '.*'].map((matcher) => isPattern(matcher, 'native'))).toEqual([true, true, true]);
  expect([isPattern('a-b', 'codex'), isPattern('Edit', 'gemini'), isPattern('*', 'gemini')]).toEqual([
    true,
    true,
    false,
  ]);
});

test('a pattern that would take long to compile is none', () => {
  const names = Array.from({ length: 200_000 }, (_, at) => `a${at}`);

  expect(() => compiled(`^(?:${names.join('x|')})$`)).toThrow('`matcher` has more than 10000 characters');
  expect(matches(names.join('|'), 'a7')).toBe(true);
});

test('a pattern is tried without leftovers of the one before', () => {
  const { matches: matcher } = compiled('^x.', 'claude');

  expect([matcher(['xa']), matcher(['ya']), matcher(['xa']), matcher(['ya', 'xb']), matcher([])]).toEqual([
    ...[true, false, true, true, false],
  ]);
});
