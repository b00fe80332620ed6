import type { HookDialect } from 'keelson/shell-hooks';
import { beforeAll, expect, test } from 'vitest';
import { patternsReady } from '../../../src/shell-hooks/hook/linear-pattern.js';
import { resolveHook } from '../../../src/shell-hooks/hook/resolve-hook.js';

beforeAll(async () => {
  resolveHook({ event: 'before_tool', name: 'guard', command: 'true', matcher: '^a' }, 'id');
  await patternsReady();
});

const compiled = (matcher: string | undefined, dialect: HookDialect = 'native') =>
  resolveHook({ event: 'before_tool', name: 'guard', command: 'true', matcher, dialect }, 'id');
const matches = (matcher: string | undefined, name: string, dialect: HookDialect = 'native') =>
  compiled(matcher, dialect).matches([name]);

test.each([undefined, '', '*', ' '])('the matcher %j matches everything', (matcher) => {
  expect(matches(matcher, 'anything')).toBe(true);
});

test.each([',', '|', ' , | '])('the matcher %j, a list without names, is refused', (matcher) => {
  expect(() => compiled(matcher)).toThrow('`matcher` must name a tool, or be "*" for every tool');
});

test('B23: a name matches only itself', () => {
  expect(matches('Edit', 'Edit')).toBe(true);
  expect(matches('Edit', 'MultiEdit')).toBe(false);
  expect(matches('mcp__brave-search', 'mcp__brave-search__x')).toBe(false);
  expect(matches('Edit|Write', 'Write')).toBe(true);
  expect(matches('Edit, Write', 'Write')).toBe(true);
  expect(matches('Edit|Write', 'Edit|Write')).toBe(false);
});

test('a matcher that is not a list of names is a regular expression', () => {
  expect(matches('mcp__.*', 'mcp__brave-search__x')).toBe(true);
  expect(matches('^Notebook', 'NotebookEdit')).toBe(true);
  expect(matches('^Notebook$', 'NotebookEdit')).toBe(false);
});

test('a Gemini matcher is a regular expression, or an exact name if it is an invalid one', () => {
  expect(matches('Edit', 'MultiEdit', 'gemini')).toBe(true);
  expect(matches('write_(', 'write_(', 'gemini')).toBe(true);
  expect(matches('write_(', 'write_file', 'gemini')).toBe(false);
});

test('a Codex matcher with a hyphen is a regular expression; without one it is an exact name', () => {
  expect(matches('mcp__brave-search', 'mcp__brave-search__query', 'codex')).toBe(true);
  expect(matches('Bash|Edit', 'Edit', 'codex')).toBe(true);
  expect(matches('Bash', 'BashOutput', 'codex')).toBe(false);
});

test('distinguishes regular expressions from lists of names and *', () => {
  const isPattern = (matcher: string, dialect: HookDialect) => compiled(matcher, dialect).pattern !== undefined;

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

test('a regular expression that would take long to compile is in doubt, a list of names is not', () => {
  const names = Array.from({ length: 200_000 }, (_, at) => `a${at}`);
  const long = compiled(`^(?:${names.join('x|')})$`);

  expect(long.pattern?.unsupported).toMatch(/^it has \d+ characters, more than 1000$/);
  expect(long.matches(['anything'])).toBe(true);
  expect(matches(names.join('|'), 'a7')).toBe(true);
});

test('evaluating a regular expression keeps no state of earlier evaluations', () => {
  const { matches: matcher } = compiled('^x.', 'claude');

  expect([matcher(['xa']), matcher(['ya']), matcher(['xa']), matcher(['ya', 'xb']), matcher([])]).toEqual([
    ...[true, false, true, true, false],
  ]);
});
