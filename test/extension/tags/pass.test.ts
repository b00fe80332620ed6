import { defineExtension, type ExtensionInput, shortCircuit } from 'keelson/extension';
import { says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { answerOf, lab } from '../../support/extension/lab.js';

/** Creates an extension that logs the input of its tag handler, and puts a mark around its result. */
function marker(id: string, tags: string | readonly string[], log: string[] = []): ExtensionInput {
  return {
    id,
    tags,
    onTag(tag, content) {
      log.push(`${id}: ${tag}(${content})`);
      return `[${id}:${content}]`;
    },
  };
}

describe('onTag', () => {
  test('S1-4.0, S1-4.2.2: is called only for the registered tag, with tag, content and context', async () => {
    const seen: unknown[] = [];
    const extension = defineExtension({
      id: 'think',
      tags: 'think',
      onTag: (tag, content, context) => void seen.push([tag, content, context.extensionId]),
    });
    const text = await answerOf([extension], '<other>1</other><think>2</think>');

    expect(seen).toEqual([['think', '2', 'think']]);
    expect(text).toBe('<other>1</other><think>2</think>');
  });

  test('S1-4.1.1: accepts several handlers, each with its own tags', async () => {
    const log: string[] = [];
    const handle = (name: string) => (tag: string) => void log.push(`${name} ${tag}`);
    const onTag = [
      { tags: ['a', 'b'], handle: handle('one') },
      { tags: 'c', handle: handle('two') },
    ];
    await answerOf([{ id: 'x', onTag }], '<a></a><b></b><c></c><d></d>');

    expect(log).toEqual(['one a', 'one b', 'two c']);
  });

  test('S1-4.1.2: matches case-sensitive names, and prefixes before a star', async () => {
    const log: string[] = [];
    await answerOf(
      [marker('m', ['think', 'x-*'], log)],
      '<think>1</think><thinker>2</thinker><x-a>3</x-a><X-a>4</X-a>',
    );

    expect(log).toEqual(['m: think(1)', 'm: x-a(3)']);
  });

  test('S1-4.1.3: passes the result of each extension to the next extension on the same tag', async () => {
    expect(await answerOf([marker('a', 't'), marker('b', 't'), marker('c', '*')], '<t>1</t>')).toBe('[c:[b:[a:1]]]');
  });

  test('S1-4.2.1: receives the name and the content; the context has the attributes and the section', async () => {
    const seen: unknown[] = [];
    const extension = defineExtension({
      id: 'x',
      tags: 'a',
      onTag(tag, content, { attributes, section }) {
        seen.push([tag, content, { ...attributes }, section]);
      },
    });
    await answerOf([extension], `<a k="v">x</a><a k='1>2' k="no" b __proto__=p/>`.replace('=p/', '="p" /'));

    expect(seen.slice(0, 1)).toEqual([['a', 'x', { k: 'v' }, '<a k="v">x</a>']]);
    expect(Object.entries((seen[1] as unknown[])[2] as object)).toEqual([
      ['k', '1>2'],
      ['b', ''],
      ['__proto__', 'p'],
    ]);
  });

  test('S1-4.2.3: replaces the section, and no other character changes', async () => {
    const text = '\uFEFF a\r\n\t<t>1</t>  \u00a0ü<t/>\n\n';

    expect(await answerOf([marker('m', 't')], text)).toBe('\uFEFF a\r\n\t[m:1]  \u00a0ü[m:]\n\n');
  });

  test('S1-4.3.1, S1-4.3.2: handles inner sections first, and outer sections contain their results', async () => {
    const log: string[] = [];
    const text = await answerOf([marker('o', 'out', log), marker('i', 'in', log)], '<out>a<in>b</in>c<in>d</in></out>');

    expect(log).toEqual(['i: in(b)', 'i: in(d)', 'o: out(a[i:b]c[i:d])']);
    expect(text).toBe('[o:a[i:b]c[i:d]]');
  });

  test.each([
    ['<u>1<t>2</t>3</u>', '<u>1[m:2]3</u>'],
    ['<t>1<u>2</u></t>', '[m:1<u>2</u>]'],
    ['<t>1', '<t>1'],
    ['1</t>', '1</t>'],
    ['<t>1<s>2</t>', '[m:1<s>2]'],
    ['<t>1<s>2</t>3</s>', '<t>1<s>2</t>3</s>'],
    ['<t><t>1</t>', '<t>[m:1]'],
    ['<t>1</T>', '<t>1</T>'],
    ['<t><t>1</t></t>', '[m:[m:1]]'],
  ])('S1-4.3.3: keeps the nesting: %s becomes %s', async (before, after) => {
    expect(await answerOf([marker('m', ['t', 's'])], before)).toBe(after);
  });

  test.each([
    'if a < t && b > c',
    '`<t>1</t>`',
    '`` a ` <t>1</t> ``',
    '```xml\n<t>1</t>\n```',
    '~~~\n<t>1</t>\n```\n<t>2</t>\n~~~~',
    '```\n<t>1</t>',
    '- ```\n  <t>1</t>',
    '> 1. * ~~~\n> <t>1</t>',
    '<!-- <t>1</t> -->',
    '<![CDATA[<t>1</t>]]>',
    'As in ```xml\n<t>1</t>\n```',
    '< t>1</ t>',
    '<t 1</t>',
    '<t =x>1</t>',
    '<1t>1</1t>',
  ])('ignores tags in code, comments and CDATA, and invalid tags: %j', async (text) => {
    expect(await answerOf([marker('m', '*')], text)).toBe(text);
  });

  test.each([
    ['a ` b\n<t>1</t> ` c', 'a ` b\n[m:1] ` c'],
    ['<!-- <t>1</t>', '<!-- [m:1]'],
    ['```a``` <t>1</t>', '```a``` [m:1]'],
    ['- ```\n  <t>0</t>\n  ```\n<t>1</t>', '- ```\n  <t>0</t>\n  ```\n[m:1]'],
    ['-```\n<t>1</t>', '-```\n[m:1]'],
    ['```\nx\n```\n<t>1</t>', '```\nx\n```\n[m:1]'],
    ['As in ```xml\n<t>0</t>\n```\n<t>1</t>', 'As in ```xml\n<t>0</t>\n```\n[m:1]'],
    ['ends in ```\n<t>1</t>\n```js\n', 'ends in ```\n[m:1]\n```js\n'],
    ['````md\n```\n<t>0</t>\n````<t>1</t>', '````md\n```\n<t>0</t>\n````[m:1]'],
    ['a ````md\n```\n<t>1</t>', 'a ````md\n```\n<t>1</t>'],
  ])('handles a tag after code or unclosed markup: %j becomes %j', async (before, after) => {
    expect(await answerOf([marker('m', 't')], before)).toBe(after);
  });

  test.each([
    '\n```json\n{ "a": "<t>" }\n```',
    '```json\n{ "a": "</u>" }\n```\n',
    '```json\n{ "a": "<t>" }\n```',
    '```',
    '```js\r\n<t>\r\n```\r\nand ```c++ \n</u>\n ```\t',
  ])('receives a code block that starts or ends directly at its tags: %j', async (code) => {
    expect(await answerOf([marker('m', 't')], `<t>${code}</t> ok`)).toBe(`[m:${code}] ok`);
  });

  test('ignores tags in the string that a handler returns', async () => {
    const log: string[] = [];
    const grow: ExtensionInput = {
      id: 'grow',
      tags: ['t', 'out'],
      onTag(tag, content) {
        log.push(tag);
        return `<t>${content}</t>`;
      },
    };

    expect(await answerOf([grow], '<out><t>1</t></out>')).toBe('<t><t>1</t></t>');
    expect(log).toEqual(['t', 'out']);
  });

  test('finds a section across text parts, and keeps the order of parts and tool calls', async () => {
    const content = [
      { type: 'reasoning', text: '<t>mine</t>' },
      { type: 'text', text: 'a <t>b', providerMetadata: { p: 1 } },
      { type: 'file', data: 'x', mediaType: 'a/b' },
      { type: 'text', text: 'c</t> d <t>e</t>' },
    ] as const;
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const { agent } = lab([marker('m', 't')], { script: () => ({ content, usage, finishReason: 'stop' as const }) });
    const { messages } = await agent.run('go');

    expect(messages[1]?.content).toEqual([
      content[0],
      { type: 'text', text: 'a [m:bc]', providerMetadata: { p: 1 } },
      content[2],
      { type: 'text', text: ' d [m:e]' },
    ]);
  });

  test('skips later handlers of its section with shortCircuit; the outer section is still handled', async () => {
    const stop: ExtensionInput = { id: 'stop', priority: 90, tags: 'in', onTag: () => shortCircuit('!') };

    expect(await answerOf([stop, marker('m', ['in', 'out'])], '<out>1<in>2</in></out>')).toBe('[m:1!]');
  });

  test('ignores a handler that throws or returns a number', async () => {
    const bad = (id: string, onTag: () => never | string): ExtensionInput => ({ id, tags: 't', onTag });
    const throws = bad('throws', () => {
      throw new Error('boom');
    });
    const wrong = bad('wrong', () => 42 as never);

    expect(await answerOf([throws, wrong], 'a<t k="1">1</t>')).toBe('a<t k="1">1</t>');
    expect(await answerOf([throws, marker('m', 't'), wrong], 'a<t k="1">1</t>')).toBe('a[m:1]');
  });

  test('is not called for a text without its tags, and the text is unchanged', async () => {
    const { agent } = lab([marker('m', 't')], { script: says('no tags < here > at & all') });
    const { text, decisions } = await agent.run('go');

    expect({ text, decisions }).toEqual({ text: 'no tags < here > at & all', decisions: [] });
  });
});
