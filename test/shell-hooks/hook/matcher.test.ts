import { expect, test } from 'vitest';
import type { HookDialect } from '../../../src/shell-hooks/hook/event.js';
import { compileMatcher, type Matcher } from '../../../src/shell-hooks/hook/matcher.js';

const matches = (matcher: string | undefined, name: string, dialect: HookDialect = 'native') =>
  (compileMatcher(matcher, dialect) as Matcher)([name]);

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

test('a pattern that runs away is stopped, and counts as a match', () => {
  const start = performance.now();

  expect(matches('^(a+)+$', `${'a'.repeat(60)}!`)).toBe(true);
  expect(performance.now() - start).toBeLessThan(2_000);
});

test("of many patterns of a workspace that run away each has a short time, and the user's are what they were", () => {
  const patterns = Array.from({ length: 50 }, (_, at) => `((.?){30}){30}!${at}`);
  const all = patterns.map((pattern) => (compileMatcher(pattern, 'native', true) as Matcher)(['read']));

  expect(all).toEqual(all.map(() => true));
  expect([matches('^re.d$', 'read'), matches('^re.d$', 'write')]).toEqual([true, false]);
});

test('ten thousand patterns are tried in seconds, and without a gigabyte', () => {
  const matchers = Array.from({ length: 10_000 }, (_, at) => compileMatcher(`^x${at}$`, 'native') as Matcher);

  expect(matchers.filter((matcher) => matcher(['x7'])).length).toBe(1);
});

test('a pattern that would take long to compile is none', () => {
  const names = Array.from({ length: 200_000 }, (_, at) => `a${at}`);

  expect(compileMatcher(`^(?:${names.join('x|')})$`, 'gemini')).toBe('`matcher` has more than 10000 characters');
  expect(matches(names.join('|'), 'a7')).toBe(true);
});

test('a pattern is tried without leftovers of the one before', () => {
  const matcher = compileMatcher('^x.', 'claude') as Matcher;

  expect([matcher(['xa']), matcher(['ya']), matcher(['xa']), matcher(['ya', 'xb']), matcher([])]).toEqual([
    ...[true, false, true, true, false],
  ]);
});
