import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CapturedOutput } from '../../src/process/captured-output.js';

const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
const limit = fc.integer({ min: 1, max: 60 });

test.each(['first', 'last'] as const)('keeps the %s bytes of any stream, however it is chunked', (end) => {
  fc.assert(
    fc.property(chunks, limit, (pieces, size) => {
      const ascii = pieces.map((piece) => piece.map((byte) => byte & 0x7f));
      const output = new CapturedOutput(size, end);
      for (const piece of ascii) output.push(Buffer.from(piece));
      const whole = Buffer.concat(ascii);
      const kept = end === 'first' ? whole.subarray(0, size) : whole.subarray(Math.max(0, whole.length - size));
      expect(output.text()).toBe(kept.toString('latin1'));
      expect(output.truncated).toBe(whole.length > size);
    }),
  );
});

test.each(['first', 'last'] as const)('no character is cut in two at the limit of the %s bytes', (end) => {
  const text = Buffer.from('aé🎉é');
  for (let size = 1; size < text.length; size++) {
    const output = new CapturedOutput(size, end);
    output.push(text);
    const kept = output.text();
    expect(end === 'first' ? 'aé🎉é'.startsWith(kept) : 'aé🎉é'.endsWith(kept)).toBe(true);
  }
});
