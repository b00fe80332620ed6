import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idAtEnds, LineReader } from '../../../src/mcp/transport/line-reader.js';

describe('the line reader', () => {
  test('returns the same lines for all splits into chunks', () => {
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ' '));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 50 }), (lines, size) => {
        const seen: string[] = [];
        const reader = new LineReader(1_000, (text, isTooLong) => {
          if (isTooLong) expect.fail('too long');
          seen.push(text);
        });
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        const whole = Buffer.from(lines.join('\n')).toString().split('\n');
        expect(seen).toEqual(whole.filter((text) => text.trim() !== ''));
      }),
    );
  });

  test('reduces a line above the limit to its two ends, and returns the next line completely', () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 5_000 }), fc.integer({ min: 1, max: 700 }), (length, size) => {
        const seen: string[] = [];
        const reader = new LineReader(100, (text, isTooLong) => {
          seen.push(isTooLong ? `${text.slice(0, 3)}…${text.slice(-3)}` : text);
        });
        const bytes = Buffer.from(`abc${'x'.repeat(length - 6)}xyz\nnext\n`);
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        expect(seen).toEqual(['abc…xyz', 'next']);
      }),
    );
  });

  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{', '', 7],
    ['{"id":7,"jsonrpc":"2.0","result":{', '', 7],
    ['{"result":{', '}},"jsonrpc":"2.0","id":12}', 12],
    ['{"result":{', '}},"id":12,"jsonrpc":"2.0"}', 12],
    ['{"result":{', '"x":{"id":12}}', undefined],
    ['{"result":{"id":3,', '"text"}]}}', undefined],
    ['{"jsonrpc":"2.0","method":"x"', '"id":"a"}', undefined],
  ])('finds the id in the ends of a message: %s … %s', (head, tail, id) => {
    expect(idAtEnds(head + tail)).toBe(id);
  });
});
