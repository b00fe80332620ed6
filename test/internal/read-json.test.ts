import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lossText, readJson } from '../../src/internal/read-json.js';

const readOr = (text: string, comments = false) => {
  const read = readJson(text, { comments });
  return 'value' in read ? read.value : read.problem;
};

describe('readJson', () => {
  test('accepts the same strings as JSON.parse, with the same values', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"a"',
        '"b\\n"',
        '"\\u0041"',
        '"\\x"',
        '"',
        '\\',
        '1',
        '-0.5e+3',
        '01',
        '.5',
        '-',
      ],
      ...[
        'true',
        'null',
        'nul',
        ' ',
        '\n',
        '\r\n',
        '\t',
        '\u00a0',
        '/',
        '//',
        '/*',
        "'",
        'é',
        '\u0001',
        '\u007f',
        '\ud800',
      ],
    );
    const texts = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(), piece).map(([json, at, with_]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + with_ + json.slice(place + 1);
      }),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = readJson(text);
        let expected: unknown;
        try {
          expected = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
        } catch {
          expect(read).toMatchObject({ problem: expect.stringMatching(/^invalid JSON at line \d+, column \d+: /) });
          return;
        }
        if ('problem' in read) expect(read.problem).toContain('nested deeper than 64');
        else if (read.lost.length === 0) expect(read.value).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  }, 30_000);

  test('skips a byte order mark', () => {
    expect(readOr('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  test('accepts comments and trailing commas only with the option `comments`', () => {
    const text = '// "a"\n{ /* [ */ "a": ["//", "/* */", "a,]", "\\"//",], } /* to the end';

    expect(readOr(text, true)).toEqual({ a: ['//', '/* */', 'a,]', '"//'] });
    expect(readOr(text)).toBe('invalid JSON at line 1, column 1: expected a value, got "/"');
    expect(readOr('[1,]')).toBe('invalid JSON at line 1, column 4: expected a value, got "]"');
  });

  test('accepts at most 64 levels', () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

    expect(readOr(nested(64))).toBeInstanceOf(Array);
    expect(readOr(nested(66))).toBe('invalid JSON at line 1, column 193: nested deeper than 64 levels');
    expect(readOr('['.repeat(10_000_000))).toContain('line 1, column 65');
  });
});

test.each([
  ['', 1, 1, 'expected a value, got the end'],
  ['{"a":\n  tru}', 2, 3, 'expected a value, got "t"'],
  ['{"a":1\r\n"b":2}', 2, 1, 'expected `,` or `}`, got """'],
  ['[1\r2]', 2, 1, 'expected `,` or `]`, got "2"'],
  ['{a:1}', 1, 2, 'expected a key in double quotes or `}`, got "a"'],
  ['{"a":1,}', 1, 8, 'expected a key in double quotes, got "}"'],
  ['{"a" 1}', 1, 6, 'expected `:`, got "1"'],
  ['{} {}', 1, 4, 'expected nothing more, got "{"'],
  ['["a\nb"]', 1, 4, 'a string must not contain "\\u{a}"'],
  ['["a\\x"]', 1, 4, 'invalid escape'],
  ['["a', 1, 2, 'unterminated string'],
  ['\u202e', 1, 1, 'expected a value, got "\\u{202e}"'],
])('reports the problem and the position in %j', (text, ...[line, column, problem]) => {
  expect(readJson(text)).toEqual({
    problem: `invalid JSON at line ${line}, column ${column}: ${problem}`,
    line,
    column,
  });
});

describe('readJson reports a key', () => {
  test('that is repeated in its object, with its path and position, however it is escaped', () => {
    const read = readJson('{"a":[{"k":1},{"k":2,\n "\\u006b":3}],"k":{"a":1}}');

    expect(read).toEqual({
      value: { a: [{ k: 1 }, { k: 3 }], k: { a: 1 } },
      lost: [{ path: ['a', 1, 'k'], reason: 'repeated', line: 2, column: 2 }],
    });
    expect('lost' in read && read.lost.map((key) => lossText(key))).toEqual([
      'the key at line 2, column 2 is repeated in its object: only the last value is used',
    ]);
  });

  test('named __proto__ or listed in `drop`, and leaves it out', () => {
    const text = '{"a":{"__pro\\u0074o__":{"x":1}},"constructor":{"prototype":{"y":2}},"b":1}';

    expect(readJson(text)).toMatchObject({
      value: { a: {}, constructor: { prototype: { y: 2 } }, b: 1 },
      lost: [{ path: ['a', '__proto__'], reason: 'dropped' }],
    });
    expect(readJson(text, { drop: ['constructor'] })).toMatchObject({ value: { a: {}, b: 1 } });
    expect(({} as Record<string, unknown>).x).toBe(undefined);
  });

  test('up to a limit of 1,000 keys', () => {
    const twice = (keys: number) => `{${Array.from({ length: keys }, (_, at) => `"${at}":1,"${at}":2`).join(',')}}`;

    expect(readJson(twice(1_000))).toMatchObject({ lost: { length: 1_000 } });
    expect(readOr(twice(1_001))).toContain('more than 1000 keys');
  });
});
