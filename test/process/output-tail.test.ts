import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputTail } from '../../src/process/process-group.js';

const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
const limit = fc.integer({ min: 1, max: 60 });

test('OutputTail keeps the last bytes of any stream, however it is chunked', () => {
  fc.assert(
    fc.property(chunks, limit, (pieces, size) => {
      const ascii = pieces.map((piece) => piece.map((byte) => byte & 0x7f));
      const tail = new OutputTail(size);
      for (const piece of ascii) tail.push(Buffer.from(piece));
      const whole = Buffer.concat(ascii);
      expect(tail.text()).toBe(whole.subarray(Math.max(0, whole.length - size)).toString('latin1'));
      expect(tail.truncated).toBe(whole.length > size);
    }),
  );
});

test('no character is cut in two at the limit', () => {
  const text = Buffer.from('aé🎉é');
  for (let size = 1; size < text.length; size++) {
    const tail = new OutputTail(size);
    tail.push(text);
    expect('aé🎉é'.endsWith(tail.text())).toBe(true);
  }
});
