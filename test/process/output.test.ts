import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputHead, OutputTail } from '../../src/process/output.js';

const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
const limit = fc.integer({ min: 1, max: 60 });

test('OutputHead keeps the first bytes of any stream, however it is chunked', () => {
  fc.assert(
    fc.property(chunks, limit, (pieces, size) => {
      const ascii = pieces.map((piece) => piece.map((byte) => byte & 0x7f));
      const head = new OutputHead(size);
      for (const piece of ascii) head.push(Buffer.from(piece));
      const whole = Buffer.concat(ascii);
      expect(head.text()).toBe(whole.subarray(0, size).toString('latin1'));
      expect(head.truncated).toBe(whole.length > size);
    }),
  );
});

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
    const head = new OutputHead(size);
    const tail = new OutputTail(size);
    head.push(text);
    tail.push(text);
    expect('aé🎉é'.startsWith(head.text())).toBe(true);
    expect('aé🎉é'.endsWith(tail.text())).toBe(true);
  }
});

test('a long stream of single bytes uses little memory', () => {
  const tail = new OutputTail(1_000);
  for (let at = 0; at < 100_000; at++) tail.push(Buffer.from([97 + (at % 26)]));

  expect(tail.text()).toHaveLength(1_000);
  expect((tail as unknown as { chunks: unknown[] }).chunks.length).toBeLessThan(300);
});
