import fc from 'fast-check';
import type { AssistantPart } from 'keelson';
import { expect, test } from 'vitest';
import { editBetween, editContent, textIn } from '../../../src/extension/callbacks/text-edit.js';
import { pairTags } from '../../../src/extension/tags/pairs.js';
import { scanTags } from '../../../src/extension/tags/scanner.js';
import { answerOf } from '../../support/extension/lab.js';
import { growth } from '../../support/growth.js';

const EVERY = { isWanted: () => true, isWantedInCode: () => false };
const PIECES = [
  '<a>',
  '</a>',
  '<b k="1">',
  '</b>',
  '<b/>',
  '`',
  '``',
  '```\n',
  '```js',
  '\n',
  '<!--',
  '-->',
  '<',
  '>',
  'x',
  ' ',
  '"',
];
const markup = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(''));
const text = fc.oneof(markup, fc.string({ unit: 'binary' }));

/** A blank text is not an answer. */
const answer = text.filter((given) => given.trim() !== '');

test('any text is unchanged if no tag is registered, or if handlers return their section', async () => {
  const noTag = { id: 'none', onTag: () => 'never', tags: 'never' };
  const same = {
    id: 'same',
    tags: '*',
    onTag: (_tag: string, _content: string, context: { section: string }) => context.section,
  };
  const silent = { id: 'silent', tags: '*', onTag: () => undefined };
  await fc.assert(
    fc.asyncProperty(answer, async (given) => {
      expect(await answerOf([noTag], given)).toBe(given);
      expect(await answerOf([same, silent], given)).toBe(given);
    }),
  );
});

test('the paired tags of any text nest: each section is complete, and no two sections overlap', () => {
  fc.assert(
    fc.property(text, (given) => {
      const open: string[] = [];
      for (const { kind, name } of pairTags(scanTags(given, EVERY))) {
        if (kind === 'open') open.push(name);
        if (kind === 'close') expect(open.pop()).toBe(name);
      }
      expect(open).toEqual([]);
    }),
  );
});

const words = (value: string): AssistantPart => ({ type: 'text', text: value });

test('any edit of any response gives the wanted text, moves no part, and splits no surrogate pair', () => {
  // Some of these emoji share their high surrogate, and some their low surrogate.
  const alike = fc.string({ unit: fc.constantFrom('😀', '😁', '🐁', 'a'), maxLength: 5 });
  const part = fc.oneof(
    fc.oneof(alike, fc.string({ maxLength: 5 })).map(words),
    fc.constantFrom<AssistantPart>(
      { type: 'reasoning', text: 'hm' },
      { type: 'tool-call', id: '1', name: 'a', input: {} },
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.oneof(alike, fc.string()), (content, after) => {
      const edit = editBetween(textIn(content), after);
      const edited = editContent(content, edit === undefined ? [] : [edit]);
      expect(textIn(edited)).toBe(after);
      const others = (list: readonly AssistantPart[]) => list.filter(({ type }) => type !== 'text');
      expect(others(edited)).toEqual(others(content));
      expect(edited.filter((it) => it.type === 'text' && /\p{Surrogate}/u.test(it.text))).toEqual([]);
    }),
    {
      examples: [
        [[words('x😀'), words('😁y')], 'x😁y'],
        [[words('😀'), words('🐀')], '😀'],
      ],
    },
  );
});

const HARD: Readonly<Record<string, (n: number) => string>> = {
  nested: (n) => '<a>'.repeat(n) + '</a>'.repeat(n),
  crossing: (n) => '<a><b>'.repeat(n) + '</a></b>'.repeat(n),
  unclosed: (n) => '<a>'.repeat(n),
  'open quotes': (n) => '<a k="'.repeat(n),
  'open comments': (n) => '<!--'.repeat(n),
  'open code': (n) => `<${Array.from({ length: Math.sqrt(n) }, (_, i) => '`'.repeat(i)).join(' ')}`,
  'late fences': (n) => `<${'x ```js\n'.repeat(n)}`,
  'late fences with no end': (n) => `<${'x ````js\n'.repeat(n)}\n\`\`\`\n`,
  fences: (n) => `<${'\n~~~~\n```'.repeat(n)}`,
  'fences in sections': (n) => '<a>\n```js\n</a>\n'.repeat(n),
  'fences in sections, with one end': (n) => `${'<a>\n```js\n</a>\n'.repeat(n)}\`\`\`\n`,
  'comments in sections, with one end': (n) => `${'<a><!--</a>'.repeat(n)}-->`,
  'code spans': (n) => `${'`a` '.repeat(n)}<a>`,
  spaces: (n) => `<a${' '.repeat(n)}`,
};

test.each(Object.entries(HARD))('%s: scanning takes linear time', async (_name, make) => {
  const scan = (size: number) => {
    const given = make(size);
    return () => pairTags(scanTags(given, EVERY));
  };

  expect(await growth(2_000, scan)).toBeLessThan(100);
});

test('a megabyte of tags nested a hundred thousand deep is handled without a stack overflow', async () => {
  const depth = 100_000;
  let calls = 0;
  const onTag = (_tag: string, content: string) => {
    calls += 1;
    return content;
  };
  const given = `${'<abc>'.repeat(depth)}x${'</abc>'.repeat(depth)}`;

  expect(await answerOf([{ id: 'x', tags: 'abc', onTag }], given)).toBe('x');
  expect(calls).toBe(depth);
});
