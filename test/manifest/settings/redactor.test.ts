import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/manifest/settings/redactor.js';

const setting = { name: 'token', description: 'A token.', sensitive: true };

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.learn(setting, secret);
  return redactor;
}

const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
const ascii = (text: string) =>
  quoted(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const bytesOf = (text: string) => Buffer.from(text);

/** How programs write a string into something else. */
const writers: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['JSON', quoted],
  ['JSON in ASCII', ascii],
  [
    'JSON in ASCII with capitals',
    (text) => ascii(text).replace(/\\u..../g, (code) => `\\u${code.slice(2).toUpperCase()}`),
  ],
  ['JSON with escaped slashes', (text) => quoted(text).replaceAll('/', '\\/')],
  ['a URL', (text) => encodeURIComponent(text)],
  ['a URL in lower case', (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
  ['a path of a URL', (text) => encodeURI(text)],
  ['a form', (text) => new URLSearchParams({ a: text }).toString().slice(2)],
  [
    'HTML',
    (text) =>
      text.replace(
        /[&<>"']/g,
        (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c,
      ),
  ],
];

describe('a secret', () => {
  const secret = fc.string({ unit: 'grapheme', minLength: 4, maxLength: 60 }).filter((text) => text.trim().length >= 4);

  test.each(writers)('is found however it is written: %s', (_how, write) => {
    const samples = ['wJalr/XUtn+FEMI=', 'pä"ss\\wö/rd', "a&b<c>d'e", 'a b\nc\td', '🚢🚢🚢🚢', 'C:\\\\x\\y"'];
    const any = fc.oneof(fc.constantFrom(...samples), secret);
    fc.assert(
      fc.property(any, (text) => {
        const shown = redactorOf(text).values(`x${write(text.trim())}x`);
        expect(shown).toBe('x[redacted]x');
      }),
    );
  });

  test('is found in Base64, whatever stands before and behind it', () => {
    const around = fc.string({ maxLength: 5 });
    const long = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 60 }).filter((text) => text.trim().length >= 8);
    const sides = fc.tuple(around, around);
    fc.assert(
      fc.property(long, sides, fc.constantFrom('base64', 'base64url'), (text, [before, behind], encoding) => {
        const shown = redactorOf(text).values(bytesOf(before + text.trim() + behind).toString(encoding));
        const rest = shown.split('[redacted]');
        expect(rest.length).toBeGreaterThan(1);
        // What is left says what stood around it, and at most a part of the secret's first and last character.
        expect(rest.join('').length).toBeLessThanOrEqual(Math.ceil((bytesOf(before + behind).length * 8) / 6) + 8);
      }),
    );
  });

  test('of any length is found as a whole', () => {
    fc.assert(
      fc.property(fc.base64String({ minLength: 200, maxLength: 5_000 }), (text) => {
        expect(redactorOf(text).values(`x${text}x`)).toBe('x[redacted]x');
      }),
      { numRuns: 30 },
    );
  });

  test('that holds another goes as a whole', () => {
    expect(redactorOf('my-horse', 'horse-battery').values('a my-horse-battery')).toBe('a [redacted]');
    expect(redactorOf('horse', 'horse-battery').values('a horse-battery and a horse')).toBe(
      'a [redacted] and a [redacted]',
    );
  });

  test('of several lines is found by each of its long lines', () => {
    const key = `-----BEGIN KEY-----\n${'A1b2'.repeat(8)}\nshort\n-----END KEY-----`;

    expect(redactorOf(key).values(`line: ${'A1b2'.repeat(8)}; short`)).toBe('line: [redacted]; short');
  });
});

test('E3: the name of a setting is found as a key in any case style', () => {
  const redactor = new Redactor();
  redactor.learn({ ...setting, name: 'apiToken', envVar: 'MY_VARIABLE' }, undefined);

  for (const key of ['apiToken', 'API_TOKEN', 'api-token', 'ApiToken', 'Api Token', 'my_variable']) {
    expect(redactor.text(`${key}=x1, "${key}": "y 2"; ${key}: 'z'`)).not.toMatch(/x1|y 2|z/);
    expect(redactor.copy({ [key]: 'short', other: 'kept' })).toEqual({ [key]: '[redacted]', other: 'kept' });
  }
});

test('very many and very long secrets are taken out in a moment', () => {
  const redactor = redactorOf('p/"\\'.repeat(50_000));
  for (let index = 0; index < 2_000; index += 1) redactor.learn(setting, `sk-test/${index}+${'ab'.repeat(20)}`);
  redactor.learn(setting, 'ab'.repeat(100_000));
  const begun = process.cpuUsage();

  redactor.values(`${'ab'.repeat(99_999)}x`);
  const shown = redactor.values(`a sk-test/7+${'ab'.repeat(20)} b ${'\\'.repeat(20_000)} ${'p/"'.repeat(1_000)}`);

  expect(shown).toMatch(/^a \[redacted\] b \\/);
  expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(4_000);
});
