import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laterMessages, missingMessages, startOfRest } from '../../../src/shell-hooks/transcript/missing-messages.js';

/** Returns the messages that a transcript lacks. Each character is a message. */
function missing(written: string, now: string): string {
  const keys = [...now];
  return missingMessages([...written], keys)
    .map((at) => keys[at])
    .join('');
}

describe('a transcript lacks', () => {
  test.each([
    ['', 'abc', 'abc'],
    ['abc', 'abc', ''],
    ['abc', 'abcde', 'de'],
    ['abc', 'ab', ''],
    ['abcdef', 'Sef', 'S'],
    ['abcdef', 'Sefgh', 'Sgh'],
    ['sabcdef', 'sScdef', 'S'],
    ['abhcdef', 'hcSefg', 'Sg'],
    ['SabcdefT', 'UdefT', 'U'],
    ['abc', 'Sd', 'Sd'],
  ])('after %j of the messages %j those new: %j', (written, now, expected) => {
    expect(missing(written, now)).toBe(expected);
  });

  test.each([
    ['ya', 'Sy', 'Sy'],
    ['ya', 'Syc', 'Syc'],
    ['yayb', 'Syby', 'Sy'],
    ['aoxo', 'Soy', 'Sy'],
    ['aoxo', 'Sxoyo', 'Syo'],
  ])('after %j of %j a repeated prompt: %j', (written, now, expected) => {
    expect(missing(written, now)).toBe(expected);
  });

  test.each([
    ['abc', 'abcde', 'de'],
    ['Sef', 'abcdef', ''],
    ['Sef', 'abcdefgh', 'gh'],
    ['SgoXgo', 'abgoXgogo', 'go'],
    ['abc', 'ax', 'x'],
    ['abc', 'ab', ''],
  ])('after %j of the messages that people read, %j, the later ones: %j', (written, all, expected) => {
    const keys = [...all];
    expect(
      laterMessages([...written], keys)
        .map((at) => keys[at])
        .join(''),
    ).toBe(expected);
  });

  test('each message once, however often a summary replaces the first ones', () => {
    const steps = fc.array(fc.record({ adds: fc.integer({ min: 0, max: 4 }), keeps: fc.integer({ min: 1, max: 4 }) }));
    fc.assert(
      fc.property(steps, (all) => {
        let count = 0;
        let now: readonly string[] = [];
        let known: readonly string[] = [];
        const lines: string[] = [];
        for (const { adds, keeps } of all) {
          const shorter = now.length > keeps ? [`summary ${count++}`, ...now.slice(-keeps)] : now;
          now = [...shorter, ...Array.from({ length: adds }, () => `message ${count++}`)];
          for (const at of missingMessages(known, now)) lines.push(now[at] as string);
          known = now;
        }
        expect(lines).toEqual(Array.from(new Set(lines)));
        expect(lines).toHaveLength(count);
      }),
    );
  });
});

test.each([
  ['abcdef', 'ef', 4],
  ['abcdef', 'efg', 4],
  ['abcdef', 'g', 6],
  ['abcdef', '', 6],
  ['abcdef', 'cd', 2],
  ['yaybyb', 'yb', 4],
  ['yaybya', 'ybn', 2],
])('of the messages %j, those after a summary, %j, begin at %i', (all, rest, start) => {
  expect(startOfRest([...all], [...rest])).toBe(start);
});
