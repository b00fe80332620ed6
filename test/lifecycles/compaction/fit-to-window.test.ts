import fc from 'fast-check';
import { type Message, ModelError, type ToolResultPart } from 'keelson';
import { expect, test } from 'vitest';
import { fittingShare } from '../../../src/lifecycles/compaction/overflow.js';
import { shorteningFor } from '../../../src/lifecycles/compaction/shorten-results.js';
import { tokensIn } from '../../../src/lifecycles/compaction/token-meter.js';
import { shortenResults } from '../../../src/model/shorten.js';

test.each([
  ['400 The input token count (1200000) exceeds the maximum number of tokens allowed (600000).', 0.5],
  ["This model's maximum context length is 8,000 tokens. However, you requested 10,000 tokens.", 0.8],
  ['prompt is too long: 250000 tokens > 200000 maximum', 0.8],
  ['400 Input is too long for requested model.', 0.5],
  ['413 gpt-4o-20240806 refuses 9000 tokens', 0.5],
])('the share that fits is read from the error: %s', (message, share) => {
  expect(fittingShare(new ModelError('m', new Error(message)))).toBeCloseTo(share);
});

test('random conversations with results of any length are shortened to fit, and only their results change', () => {
  const result = fc.record({ name: fc.constant('read'), chars: fc.integer({ min: 0, max: 40_000 }) });
  const turn = fc.array(result, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), fc.integer({ min: 100, max: 20_000 }), (turns, max) => {
      const messages = turns.flatMap((results, at): Message[] => [
        { role: 'user', content: 'Go on.' },
        {
          role: 'tool',
          content: results.map(({ name, chars }, index) => ({
            ...{ type: 'tool-result', id: `${at}-${index}`, name },
            content: 'x'.repeat(chars),
          })) as ToolResultPart[],
        },
      ]);
      const size = (list: readonly Message[]) => list.reduce((sum, message) => sum + tokensIn(message), 0);

      const shorter = shorteningFor(messages, max);
      if (shorter === undefined) return size(messages) > max;
      const short = messages.map((message) => {
        const found = shorter.find((one) => one.message === message);
        return found === undefined ? message : shortenResults(message, found.chars);
      });

      expect(size(short)).toBeLessThanOrEqual(max + turns.flat().length);
      expect(short.filter(({ role }) => role === 'user')).toEqual(messages.filter(({ role }) => role === 'user'));
      return size(messages) > max || shorter.length === 0;
    }),
  );
});
