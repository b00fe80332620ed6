import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFrontMatter } from '../../src/skills/front-matter.js';
import { timesAsLong } from '../support/growth.js';

async function fieldsOf(yaml: string): Promise<unknown> {
  const read = await readFrontMatter(`---\n${yaml}\n---\nBody.\n`);
  return 'problem' in read ? read.problem : Object.fromEntries(read.fields);
}

/** Front matter of published skills. A YAML parser with types reads the same strings. */
const samples: readonly string[] = [
  'name: pdf\ndescription: Reads PDF files.',
  'name: "pdf"\ndescription: \'It\'\'s "quoted".\'',
  'description: "line\\nbreak \\u00e9 \\x41 \\"x\\" \\\\"',
  'description: >\n  One line\n  and the next.\n\n  A paragraph.\nname: x',
  'description: >-\n  One line\n  and the next.',
  'description: |\n  One line\n    indented\n  and the next.\n',
  'description: |-\n  One\n  two',
  'description: several\n  lines that\n  are one',
  'metadata:\n  author: me\n  version: "1.0"',
  'allowed-tools:\n  - Read\n  - Write',
  'allowed-tools:\n- Read\n- Write',
  'allowed-tools: [Read, "Write, too", \'x\']',
  "allowed-tools: [don't, won't, \"a\\\"b\" , it is \"so\", 'it''s']",
  'name: x # a comment\n# another\ndescription: a#b',
  'description: "quoted" # a comment',
  'license: Apache-2.0\ncompatibility: Needs git, docker and the internet',
  '"name": pdf\n\'description\': Reads PDF files.\nmy.key: x',
  'description: "For C # and F #,\n  and \'others\'" # a comment\nname: x',
  "description: 'It''s # here:\n  and there'",
  'allowed-tools: [\n  Read,\n  "Write, too"\n  ]',
  '  name: pdf\n  description: Reads\n    PDF files.\n  metadata:\n    author: me',
  'name : pdf\n版本: x\nlast updated: never\n$schema: x\na:b: c',
  'allowed-tools:\n  -\n    Read\n  - Write\n    more\n  - "x # y" # z',
  'description: "\\U0001F680 Ships. Use it when the user wants to release the\\\n  \\ package, or \\\n  more\\_of it\\\\\n  again."\nname: x',
  'description: "One.\n\n  Two.\n\n\n  Three."\nname: x',
  "description: 'One\\\n  line.\n\n  Two.'",
  'description:\n  "Below: quoted,\n  over two lines"',
  'metadata:\n  short: >-\n    One line\n    and more.\n  # a comment\n  long: two\n    lines',
];

describe('front matter', () => {
  test.each(samples)('is parsed as YAML: %j', async (yaml) => {
    expect(await fieldsOf(yaml)).toEqual(parse(yaml));
  });

  test('parses any quoted or plain string as YAML does', async () => {
    const plain = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 ,.()/-]{0,40}[A-Za-z]$/);
    const quoted = fc.string().map((text) => JSON.stringify(text));
    const value = fc.oneof(plain, quoted).filter((text) => !/^(null|true|false|y|n|yes|no|on|off)$/i.test(text));
    await fc.assert(
      fc.asyncProperty(value, value, async (a, b) => {
        const yaml = `a: ${a}\nb: ${b}\nc:\n  d: ${a}`;
        expect(await fieldsOf(yaml)).toEqual(parse(yaml));
      }),
    );
  });

  test.each([
    ['description: Use when: asked', { description: 'Use when: asked' }],
    ['description: [draft] a skill: or so', { description: '[draft] a skill: or so' }],
    ['argument-hint: [name] [other]\nname: x', { 'argument-hint': '[name] [other]', name: 'x' }],
    ['description: @me & *you', { description: '@me & *you' }],
    ['description: "Use" it\nname: x', { description: '"Use" it', name: 'x' }],
    ['description: `x` and %y\nname: | z', { description: '`x` and %y', name: '| z' }],
    ["description: Don't: ever\nwhen_to_use: If: so", { description: "Don't: ever", when_to_use: 'If: so' }],
    [
      'description: Ships\n  things. Use when: asked\nname: x',
      { description: 'Ships things. Use when: asked', name: 'x' },
    ],
    ['metadata:\n  short: a: b\n  by: me', { metadata: { short: 'a: b', by: 'me' } }],
    ['name:pdf\ndescription:Reads, all', { name: 'pdf', description: 'Reads, all' }],
    ['metadata: {by: me', { metadata: '{by: me' }],
    ['a: *b\nc: &d e\nf: !g h', { a: '*b', c: '&d e', f: '!g h' }],
    [`description: ${'a: '.repeat(40)}b`, { description: `${'a: '.repeat(40)}b` }],
  ])('G2: is parsed with quotes added if it is invalid YAML: %j', async (yaml, fields) => {
    expect(await fieldsOf(yaml)).toEqual(fields);
  });

  test.each([
    [
      'version: 1.0\ndate: 2026-01-01\nnull: null\nempty:',
      { version: '1.0', date: '2026-01-01', null: 'null', empty: '' },
    ],
    ['description: one\u2028line # not this', { description: 'one\u2028line' }],
    ['tools: [\n  a,\n  b\n]\nmetadata: {\n  "x": 1\n}', { tools: ['a', 'b'], metadata: { x: '1' } }],
    ['<<: {a: b}\nc: {d: e}', { '<<': { a: 'b' }, c: { d: 'e' } }],
    [
      'metadata:\n  needs:\n    bins:\n      - gh\n  all:\n    - a: 1',
      { metadata: { needs: { bins: ['gh'] }, all: [{ a: '1' }] } },
    ],
  ])('has only strings, lists and maps: %j', async (yaml, fields) => {
    expect(await fieldsOf(yaml)).toEqual(fields);
  });

  test.each([
    ['no dashes', 'Just text.', 'the file must begin with front matter: add a first line of ---'],
    ['no end', '---\nname: x\n', 'the front matter must end with a line of ---'],
    ['a line without a key', '---\nname\n---\n', 'the front matter must consist of lines of `key: value`'],
    ['a list', '---\n- a\n---\n', 'the front matter must consist of lines of `key: value`'],
    ['a key twice', '---\na: 1\na: 2\n---\n', 'the front matter has "a" twice'],
    [
      'a map as a key',
      '---\n{a: b}: c\n---\n',
      'the front matter is invalid: With stringKeys, all keys must be strings',
    ],
    ['an open quote', '---\na: "b\nc: d\n---\n', 'the front matter is invalid: Missing closing "quote'],
    ['too many bytes', `---\na: ${'é'.repeat(33_000)}\n---\n`, 'the front matter has more than 64 KiB'],
    ['too many tokens', `---\n${'- a\n'.repeat(1_300)}---\n`, 'the front matter has more than 5000 tokens'],
    [
      'references',
      '---\na:\n  - &x y\n  - *x\n---\n',
      'the front matter must not have anchors, aliases or tags, or more than 32 levels',
    ],
  ])('is refused with %s', async (_what, text, problem) => {
    expect(await readFrontMatter(text)).toEqual({ problem });
  });

  test('accepts all line ends, a byte order mark and leading empty lines', async () => {
    for (const text of ['\uFEFF---\r\na: b\r\n---\r\nBody.\r\n', '\n---\ra: b\r---\rBody.']) {
      expect(await readFrontMatter(text)).toEqual({ fields: new Map([['a', 'b']]), body: 'Body.' });
    }
  });

  test('treats the key __proto__ like any other key', async () => {
    const read = await readFrontMatter('---\n__proto__: x\na: {__proto__: {y: z}}\n---\n');

    expect(read).toMatchObject({ fields: new Map<string, unknown>([['__proto__', 'x']]).set('a', expect.anything()) });
    expect(({} as { y?: unknown }).y).toBeUndefined();
  });
});

/** A valid file with almost as many tokens as a file may have. */
const LARGE = Array.from({ length: 600 }, (_, at) => `key${at}: value`).join('\n');

/** Parses front matter. Fails if a result has neither fields nor a problem. */
async function readAll(...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const read = await readFrontMatter(`---\n${text}\n---\n`);
    expect('problem' in read ? read.problem : read.body).toBeTypeOf('string');
  }
}

/** Returns how many times as long these texts take as a large valid file. */
function cost(texts: readonly string[]): Promise<number> {
  return timesAsLong(
    () => readAll(LARGE),
    () => readAll(...texts),
  );
}

describe('every file is parsed or refused quickly:', () => {
  test('20,000 random bytes', async () => {
    const texts = Array.from({ length: 6 }, () => randomBytes(20_000)).flatMap((bytes) => [
      ...[bytes.toString(), bytes.toString('latin1'), bytes.map((byte) => byte & 0x3f).toString()],
    ]);

    expect(await cost(texts.map((text) => text.replaceAll('\n---', '')))).toBeLessThan(50);
  });

  test('a skill with some characters replaced', async () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(12),
      fc.string({ unit: fc.constantFrom(...' \n\t:-?[]{},&*!|>\'"#%@`\\ax\0'), maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        async (yaml, edits) => {
          const text = edits.reduce((left, [at, count, put]) => {
            const start = at % (left.length + 1);
            return left.slice(0, start) + put + left.slice(start + count);
          }, yaml);
          await readAll(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  const deep = [
    '[',
    '{',
    '- ',
    '? ',
    ': ',
    'a: ',
    '[a, ',
    '{a: ',
    '- ? ',
    '? - : ',
    '&a ',
    '*a ',
    '!a ',
    '"',
    "'",
    '- [',
    'a: [\n',
    '(',
    '>',
    '|',
  ];
  const wide = [
    '\n',
    '#\n',
    'a\n',
    '- x\n',
    'a:\n',
    'a: b: c\n',
    '@\n',
    'a: }\n',
    '[]\n',
    '- [] x\n',
    ',',
    '\x1f',
    '\x02',
    '\t',
    '? a\n',
    'a: |\n',
    '\\',
  ];

  test.each([...deep, ...wide])('32 KiB of %j', async (piece) => {
    const repeated = piece.repeat(32_000 / piece.length);

    expect(await cost(['', 'a: ', 'a: [', 'a: "', 'a:\n  '].map((before) => before + repeated))).toBeLessThan(50);
  });

  test('lines with increasing indentation', async () => {
    const text = Array.from({ length: 300 }, (_, at) => `${' '.repeat(at)}a:`).join('\n');

    expect(await readFrontMatter(`---\n${text}\n---\n`)).toEqual({
      problem: expect.stringContaining('more than 32 levels'),
    });
  });
});
