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

const lowerHex = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());

/** Encodings that programs use for a string. */
const writers: readonly (readonly [string, (text: string) => string])[] = [
  ['plain', (text) => text],
  ['JSON', quoted],
  ['JSON in ASCII', ascii],
  [
    'JSON in ASCII with capitals',
    (text) => ascii(text).replace(/\\u..../g, (code) => `\\u${code.slice(2).toUpperCase()}`),
  ],
  ['JSON with escaped slashes', (text) => quoted(text).replaceAll('/', '\\/')],
  ['a URL', (text) => encodeURIComponent(text)],
  ['a URL in lower case', (text) => lowerHex(encodeURIComponent(text))],
  ['a URL that keeps slashes', (text) => encodeURIComponent(text).replaceAll('%2F', '/')],
  [
    'a URL that keeps most characters',
    (text) => lowerHex(text.replace(/[^\w/+=!@$&'()*,;:~.\-[\]{}|]/gu, (c) => encodeURIComponent(c))),
  ],
  ['a URL that encodes every byte', (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&')],
  ['a form in lower case', (text) => lowerHex(new URLSearchParams({ a: text }).toString().slice(2))],
  ['a form', (text) => new URLSearchParams({ a: text }).toString().slice(2)],
  [
    'HTML',
    (text) =>
      text.replace(
        /[&<>"']/g,
        (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c,
      ),
  ],
  ['Base64', (text) => Buffer.from(text).toString('base64').replace(/=+$/, '')],
  ['Base64URL', (text) => Buffer.from(text).toString('base64url')],
];

describe('a secret', () => {
  const secret = fc.string({ unit: 'grapheme', minLength: 4, maxLength: 60 }).filter((text) => text.trim().length >= 4);

  test.each(writers)('is redacted in every encoding: %s', (_how, write) => {
    const samples = ['wJalr/XUtn+FEMI=', 'pä"ss\\wö/rd', "a&b<c>d'e", 'a b\nc\td', '🚢🚢🚢🚢', 'C:\\\\x\\y"'];
    const any = fc.oneof(fc.constantFrom(...samples), secret);
    fc.assert(
      fc.property(any, (text) => {
        const shown = redactorOf(text).values(`x${write(text.trim())}x`);
        expect(shown).toBe('x[redacted]x');
      }),
    );
  });

  test('is redacted as the host of a URL, which is in lower case', () => {
    const { href } = new URL('https://wJalrXUtnFEMI.example.com/a');

    expect(redactorOf('wJalrXUtnFEMI').values(href)).toBe('https://[redacted].example.com/a');
  });

  test('of 20,000 characters is redacted in a URL', () => {
    const long = Array.from({ length: 2_000 }, (_, at) => `aB/+= %ä${at}`).join('');

    expect(redactorOf(long).values(`x${lowerHex(encodeURIComponent(long))}x`)).toBe('x[redacted]x');
    expect(redactorOf(long).values(`x${encodeURIComponent(long.slice(1))}x`)).not.toContain('[redacted]');
  });

  test.each(['horse%20battery', 'horse%20batter%79', 'horse+battery'])(
    'that begins with another secret is redacted as a whole: %s',
    (text) => {
      expect(redactorOf('horse', 'horse battery').values(`a ${text}!`)).toBe('a [redacted]!');
    },
  );

  test('that contains another secret is redacted as a whole', () => {
    expect(redactorOf('horse', 'horse-battery').values('a horse-battery and a horse')).toBe(
      'a [redacted] and a [redacted]',
    );
  });
});

test('E3: a key with the name of a setting is redacted in any case style', () => {
  const redactor = new Redactor();
  redactor.learn({ ...setting, name: 'apiToken', envVar: 'MY_VARIABLE' }, undefined);

  for (const key of ['apiToken', 'API_TOKEN', 'api-token', 'ApiToken', 'Api Token', 'my_variable']) {
    expect(redactor.text(`${key}=x1, "${key}": "y 2"; ${key}: 'z'`)).not.toMatch(/x1|y 2|z/);
    expect(redactor.copy({ [key]: 'short', other: 'kept' })).toEqual({ [key]: '[redacted]', other: 'kept' });
  }
});
