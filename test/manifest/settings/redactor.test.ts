import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/manifest/settings/redactor.js';

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.learn(secret);
  return redactor;
}

/** The forms of a value that are redacted. */
const writers: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in a URL', (text) => encodeURIComponent(text)],
  ['in Base64', (text) => Buffer.from(text).toString('base64')],
  ['in Base64 without padding', (text) => Buffer.from(text).toString('base64').replace(/=+$/, '')],
];

describe('a secret', () => {
  const secret = fc.string({ unit: 'grapheme', minLength: 4, maxLength: 60 }).filter((text) => text.trim().length >= 4);

  test.each(writers)('is redacted %s', (_how, write) => {
    const samples = [
      'wJalr/XUtn+FEMI=',
      "it's <b>&'co",
      'pä"ss\\wö/rd',
      "a&b<c>d'e",
      'a b\nc\td',
      '🚢🚢🚢🚢',
      'C:\\\\x\\y"',
    ];
    const any = fc.oneof(fc.constantFrom(...samples), secret);
    fc.assert(
      fc.property(any, (text) => {
        const shown = redactorOf(text).text(`x${write(text.trim())}x`);
        expect(shown).toMatch(/^x\[redacted\]=*x$/);
      }),
    );
  });

  test('that begins with another secret is redacted as a whole', () => {
    expect(redactorOf('horse', 'horse battery').text('a horse%20battery!')).toBe('a [redacted]!');
  });

  test('that overlaps another secret is redacted as a whole', () => {
    expect(redactorOf('sk-live', 'live-key-9').text('a sk-live-key-9!')).toBe('a [redacted]!');
  });

  test('that contains another secret is redacted as a whole', () => {
    expect(redactorOf('horse', 'horse-battery').text('a horse-battery and a horse')).toBe(
      'a [redacted] and a [redacted]',
    );
  });
});

test('a value of several lines is redacted as a whole, with and without its last line end', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----';
  const redactor = redactorOf(`${key}\n`);

  expect(redactor.text(`a ${key}\n`)).toBe('a [redacted]\n');
  expect(redactor.text(JSON.stringify({ key }))).toBe('{"key":"[redacted]"}');
});
