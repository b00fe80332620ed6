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
  [
    'JSON that keeps HTML safe',
    (text) => quoted(text).replace(/[<>&'+]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`),
  ],
  ['HTML with hexadecimal numbers', (text) => text.replace(/[&<>"'/]/g, (c) => `&#x${c.charCodeAt(0).toString(16)};`)],
  ['HTML with decimal numbers', (text) => text.replace(/[&<>"'\u0080-\uffff]/gu, (c) => `&#${c.codePointAt(0)};`)],
  ['a string of Python', (text) => text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\xe4', '\\xe4')],
  ['Base64', (text) => Buffer.from(text).toString('base64').replace(/=+$/, '')],
  ['Base64URL', (text) => Buffer.from(text).toString('base64url')],
];

describe('a secret', () => {
  const secret = fc.string({ unit: 'grapheme', minLength: 4, maxLength: 60 }).filter((text) => text.trim().length >= 4);

  test.each(writers)('is redacted in every encoding: %s', (_how, write) => {
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

const KEY = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ+/aB',
  'c2Vjb25kIGxpbmUgb2YgdGhlIGtleQ/+xY',
  'end==',
  '-----END PRIVATE KEY-----',
].join('\n');
const LINES = KEY.split('\n').filter((line) => line.length >= 8);

describe('a value of several lines', () => {
  const ways: readonly (readonly [string, string])[] = [
    ['as a whole', KEY],
    ['with other line ends', KEY.replaceAll('\n', '\r\n')],
    ['with indented lines', KEY.replaceAll('\n', '\n    ')],
    ['in JSON', JSON.stringify({ key: KEY })],
    ['in JSON with escaped slashes', JSON.stringify({ key: KEY }).replaceAll('/', '\\/')],
    ['in a URL', encodeURIComponent(KEY.replaceAll('\n', '\r\n'))],
    ['joined by spaces', KEY.replaceAll('\n', ' ')],
    ...LINES.map((line) => [`in the line ${line}`, `key: ${line}`] as const),
  ];

  test.each(ways)('is redacted %s', (_way, text) => {
    const shown = decodeURIComponent(redactorOf(`${KEY}\n`).values(text).replaceAll('\\/', '/'));

    expect(shown).toContain('[redacted]');
    expect(LINES.filter((line) => shown.includes(line))).toEqual([]);
  });

  test('keeps its short lines in other texts', () => {
    expect(redactorOf('{\n"end",\nlong-line-of-the-value\n}').values('"end", {}')).toBe('"end", {}');
  });
});

describe('Base64 of a longer string with a secret is redacted', () => {
  const secret = 'spaced secret ü/99?';
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const wrap = (text: string, end: string) => text.replace(/.{76}/g, `$&${end}`);
  const long = encode(`${'a: b, '.repeat(20)}${secret}${'!'.repeat(80)}`);
  const ways: readonly (readonly [string, string])[] = [
    ['with outer white space', encode(`  ${secret} `)],
    ['with a line end', encode(`${secret}\n`)],
    ['with a user name', encode(`user:${secret}`)],
    ['with a long user name', encode(`user-1:${secret}`)],
    ['with text around it', encode(`key=${secret}&more`)],
    ['for a URL', Buffer.from(`a:${secret}`).toString('base64url')],
    ['in lines', wrap(long, '\n')],
    ['in lines of MIME', wrap(long, '\r\n ')],
    ['in lines in JSON', JSON.stringify(wrap(long, '\n'))],
    ['in JSON with escaped slashes', encode(`${secret}`).replaceAll('/', '\\/')],
    ['in JSON with escaped signs', encode(`>>>${secret}>>>`).replaceAll('+', '\\u002B')],
    ['in a URL', encodeURIComponent(encode(`??>${secret}`))],
  ];

  test.each(ways)('%s', (_way, text) => {
    const shown = redactorOf(`  ${secret} `).values(text);

    expect(shown).toContain('[redacted]');
    const rest = shown.replace('[redacted]', '----').replace(/\s|\\[rn]/g, '');
    expect(Buffer.from(rest, 'base64').toString('latin1')).not.toMatch(/spaced|secret|99/);
  });

  test('any part of a secret beside its neighbours, at any place', () => {
    const text = fc.string({ minLength: 0, maxLength: 9 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = redactorOf(secret).values(encode(before + secret + after));
        const [start = '', end = ''] = shown.split('[redacted]');
        expect(start.length).toBeLessThanOrEqual(Math.ceil((Buffer.byteLength(before) * 8) / 6));
        expect(end.replace(/=/g, '').length).toBeLessThanOrEqual(Math.ceil((Buffer.byteLength(after) * 8) / 6));
      }),
    );
  });

  test('but not other Base64', () => {
    const bytes = encode('The quick brown fox jumps over the lazy dog. '.repeat(50));

    expect(redactorOf('abcd', '1234', secret).values(wrap(bytes, '\n'))).toBe(wrap(bytes, '\n'));
  });
});

test('a secret that is split over text parts is redacted', () => {
  const image = { type: 'image', data: 'aGk=' };
  const parts = [{ type: 'text', text: 'It is hunter2' }, image, { type: 'text', text: '-tide-99.', more: 1 }];
  const redactor = redactorOf('hunter2-tide-99');

  expect(redactor.copyValues({ content: parts })).toEqual({
    content: [{ type: 'text', text: 'It is [redacted].' }, image],
  });
  const whole = [{ type: 'text', text: 'It is hunter2-tide-99' }, image, { type: 'text', text: 'hunter2' }];
  expect(redactor.copyValues(whole)).toEqual([{ type: 'text', text: 'It is [redacted]' }, ...whole.slice(1)]);
});

test('a long string of escapes without a secret stays as it is', () => {
  const redactor = redactorOf('wJalr/XUtn+FEMI=', KEY);
  for (const unit of ['\\', '%', '%41', '&', '+', '\n', '\\n', '\\u0026', '&#38;', 'wJalr', 'AAAA\n']) {
    const text = unit.repeat(200_000);
    expect(redactor.values(text) === text).toBe(true);
  }
});

test('E3: a key with the name of a setting is redacted in any case style', () => {
  const redactor = new Redactor();
  redactor.learn({ ...setting, name: 'apiToken', envVar: 'MY_VARIABLE' }, undefined);

  for (const key of ['apiToken', 'API_TOKEN', 'api-token', 'ApiToken', 'Api Token', 'my_variable']) {
    expect(redactor.text(`${key}=x1, "${key}": "y 2"; ${key}: 'z'`)).not.toMatch(/x1|y 2|z/);
    expect(redactor.copy({ [key]: 'short', other: 'kept' })).toEqual({ [key]: '[redacted]', other: 'kept' });
  }
});
