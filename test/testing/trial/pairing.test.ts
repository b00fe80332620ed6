import type { Message } from 'keelson';
import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../../src/testing/trial/difference.js';
import { pairingProblem } from '../../../src/testing/trial/outcome.js';

const user: Message = { role: 'user', content: 'Hello' };

function calling(...ids: readonly string[]): Message {
  return { role: 'assistant', content: ids.map((id) => ({ type: 'tool-call', id, name: 'add', input: {} })) };
}

function results(...ids: readonly string[]): Message {
  return { role: 'tool', content: ids.map((id) => ({ type: 'tool-result', id, name: 'add', content: '3' })) };
}

describe('pairingProblem', () => {
  it('accepts results for all calls in order', () => {
    expect(pairingProblem([user, calling('a', 'b'), results('a', 'b'), user])).toBeUndefined();
  });

  it.each([
    [
      'a missing result',
      [calling('a'), user, calling('b')],
      'Tool call "a" has no result before message 2: add its tool result.',
    ],
    ['an open call before a user message', [calling('a'), user], 'tool call "a" has no result'],
    [
      'a result without its call',
      [user, results('a')],
      'Message 1 has a result for call "a", but the previous turn did not make this call.',
    ],
    ['an open call', [user, calling('a', 'b'), results('a')], 'tool call "b" has no result'],
    [
      'results in another order',
      [calling('a', 'b'), results('b', 'a')],
      'message 1 has its results in another order than the calls',
    ],
  ])('reports %s', (_, messages, problem) => {
    expect(pairingProblem(messages)).toBe(problem);
  });

  it('accepts open calls at the end with `mayWait`', () => {
    expect(pairingProblem([user, calling('a')], true)).toBeUndefined();
  });
});

describe('differenceOf', () => {
  it.each([
    { of: 'equal data', actual: { a: [1, { b: 'x' }] }, expected: { a: [1, { b: 'x', c: undefined }] } },
    { of: 'bytes', actual: new Uint8Array([1]), expected: new Uint8Array([2]), is: '0 is 1, not 2' },
    { of: 'a string', actual: { a: [{ b: 'x' }] }, expected: { a: [{ b: 'y' }] }, is: 'a[0].b is "x", not "y"' },
    { of: 'another length', actual: [[1, 2]], expected: [[1]], is: '[0] has 2 entries, not 1' },
    { of: 'a missing member', actual: {}, expected: { a: 1 }, is: 'a is undefined, not 1' },
    { of: 'another type', actual: { a: {} }, expected: { a: [] }, is: 'a is an object, not a list of 0' },
    { of: 'primitive values', actual: 1, expected: 2, is: 'the value is 1, not 2' },
    { of: 'arrays at the top level', actual: [], expected: [1], is: 'the list has 0 entries, not 1' },
  ])('names the first difference: $of', ({ actual, expected, is }) => {
    expect(differenceOf(actual, expected)).toBe(is);
  });
});
