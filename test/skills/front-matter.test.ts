import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFrontMatter } from '../../src/skills/front-matter.js';

function fieldsOf(yaml: string): unknown {
  const read = readFrontMatter(`---\n${yaml}\n---\nBody.\n`);
  return 'problem' in read ? read.problem : Object.fromEntries(read.fields);
}

/** What skills are written in; each means the same to a whole YAML reader. */
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
  test.each(samples)('means what YAML says: %j', (yaml) => {
    expect(fieldsOf(yaml)).toEqual(parse(yaml));
  });

  test('any text in quotes, or plain, is read as YAML reads it', () => {
    const plain = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 ,.()/-]{0,40}[A-Za-z]$/);
    const quoted = fc.string().map((text) => JSON.stringify(text));
    const value = fc.oneof(plain, quoted).filter((text) => !/^(null|true|false|y|n|yes|no|on|off)$/i.test(text));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const yaml = `a: ${a}\nb: ${b}\nc:\n  d: ${a}`;
        expect(fieldsOf(yaml)).toEqual(parse(yaml));
      }),
    );
  });

  test('any text is read or refused, and never throws', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('---', 'a: b', '  c', '- d', '|', 'e: >', '', '#', '"', "'", '__proto__: x', ':'), {
          maxLength: 12,
        }),
        (lines) => {
          const read = readFrontMatter(lines.join('\n'));
          expect('problem' in read ? read.problem : read.body).toBeTypeOf('string');
        },
      ),
    );
  });

  test.each([
    ['description: Use when: asked', { description: 'Use when: asked' }],
    ['description: [draft] a skill: or so', { description: '[draft] a skill: or so' }],
    ['description: @me & *you', { description: '@me & *you' }],
    ['version: 1.0', { version: '1.0' }],
    ['description: one\u2028line # not this', { description: 'one\u2028line' }],
    ['name:pdf\ndescription:Reads, all', { name: 'pdf', description: 'Reads, all' }],
    ['tools: [\n  a,\n  b\n]\nmetadata: {\n  "x": 1\n}', { tools: ['a', 'b'], metadata: '{ "x": 1 }' }],
    [
      'metadata:\n  needs:\n    bins:\n      - gh\n  author: me\n  all:\n    - a: 1\n      b: 2',
      { metadata: { needs: 'bins: - gh', author: 'me', all: '- a: 1 b: 2' } },
    ],
  ])('is read also where YAML proper refuses it, or makes a number of it: %j', (yaml, fields) => {
    expect(fieldsOf(yaml)).toEqual(fields);
  });

  test.each([
    ['no dashes', 'Just text.', 'it does not begin with front matter: a line with ---'],
    ['no end', '---\nname: x\n', 'its front matter does not end: a line with --- is missing'],
    ['a line of its own', '---\nname\n---\n', 'its front matter has a line that is no field: name'],
    ['a key twice', '---\na: 1\na: 2\n---\n', 'its front matter has "a" twice'],
  ])('is refused with %s', (_what, text, problem) => {
    expect(readFrontMatter(text)).toEqual({ problem });
  });

  test.each([
    ['digits', `a: |${'1'.repeat(200_000)}x`],
    ['quotes', `a: [${'"\\'.repeat(200_000)}]`],
    ['escaped lines', `a: "${'x\\\\\n  '.repeat(100_000)}"`],
    ['apostrophes', `a: [${"',''x,".repeat(100_000)}]`],
  ])('is read in one go: %s', (_what, yaml) => {
    const before = performance.now();
    fieldsOf(yaml);

    expect(performance.now() - before).toBeLessThan(2_000);
  });

  test('takes line ends of any kind, and a byte order mark or empty lines before it', () => {
    for (const text of ['\uFEFF---\r\na: b\r\n---\r\nBody.\r\n', '\n---\ra: b\r---\rBody.']) {
      expect(readFrontMatter(text)).toEqual({ fields: new Map([['a', 'b']]), body: 'Body.' });
    }
  });
});
