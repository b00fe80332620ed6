import { Agent, type OutputInvalidError } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** The value that is meant, another one that fits, and one that does not fit, for each schema. */
const kinds = {
  object: {
    schema: z.object({ city: z.string(), degrees: z.number() }),
    right: '{"city":"Oslo {north}","degrees":-3}',
    other: '{"city":"Rome","degrees":20}',
    wrong: '{"city":"Oslo"}',
  },
  array: {
    schema: z.array(z.object({ id: z.number() })),
    right: '[{"id":1},{"id":2}]',
    other: '[{"id":3}]',
    wrong: '[{"id":"one"}]',
  },
  union: {
    schema: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('found'), page: z.number() }),
      z.object({ kind: z.literal('missing') }),
    ]),
    right: '{"kind":"found","page":12}',
    other: '{"kind":"missing"}',
    wrong: '{"kind":"lost"}',
  },
};

/** `@` stands for the right value, `#` for the other one that fits, `%` for the one that does not fit. */
const read: readonly string[] = [
  '@',
  '  @\n',
  '\ufeff@',
  '```json\n@\n```',
  '```\n@\n```',
  '```JSON\r\n@\r\n```',
  '```json @ ```',
  'Sure! @',
  'Sure!\n\n@\n\nLet me know if you need more.',
  'Here you go:\n```json\n@\n```',
  'Here you go:\n```json\n@\n```\nI hope this helps.',
  'Here you go:\n```\n@\n```\nHave a nice day :-]',
  '**Answer:** `@`',
  'The answer is "@".',
  '> @',
  '1. Reading the page\n2. Answering: @',
  '<think>Easy.</think>@',
  '<think>\nThe answer {maybe} is 4.\n</think>\n\n@',
  '<think>I could say #, but no.</think>\n@',
  '<think>#</think>\n```json\n@\n```',
  '<thinking>Is it # or %?</thinking>The result: @',
  '<thought>#</thought>@',
  '<reasoning>#, then %</reasoning>\n\n@',
  '<THINK>#</THINK>@',
  'I could say #, but no.\n</think>\n@',
  '<think></think>\n\n@',
  '@\n@',
  'First: @\nAgain, as asked: @',
  'Not %, but @',
  'A page with % is not meant. @ is.',
  '```json\n@\n```\nThis is unlike % in one field.',
  'The set {a, b} has two members. @',
  'Use { and [ with care. @',
  'if (x) { return } else { stop } gives @',
  'As [the report] says, @',
  'See [report](https://example.com/a?b={c}): @',
  'A smile :-} and then @',
  'It costs {price} euros: @ (see {price}).',
  'null @',
  'true: @',
  '@;',
  '"@"',
];

/** Answers in which nobody can tell the value, with the reason. */
const refused: readonly (readonly [answer: string, reason: RegExp])[] = [
  ['', /no text/],
  ['I cannot say.', /not JSON/],
  ['<think>@</think>', /not JSON/],
  ['<think>@', /not JSON/],
  ['The answer is {unknown}.', /not JSON/],
  ['%', /invalid/],
  ['Sure! %', /invalid/],
  ['```json\n%\n```', /invalid/],
  ['% or %', /invalid/],
  ['@ or #', /several/],
  ['For example #. The answer: @', /several/],
  ['```json\n#\n```\n```json\n@\n```', /several/],
  ['Before: #\nAfter: @\nAfter that: %', /several/],
  ['Draft: #\nFinal: {"city": "Oslo", "degr', /not JSON/],
  ['Draft: #\nFinal: [{"id": 1}, {"id"', /not JSON/],
  ['Draft: #\nFinal: {"city": "Oslo",}', /not JSON/],
  ["Draft: #\nFinal: {'city': 'Oslo'}", /not JSON/],
  ['Draft: #\nFinal: {city: "Oslo"}', /not JSON/],
  ['{"result": @', /not JSON/],
  ['{result: @}', /not JSON/],
  ['{"result": @}', /invalid/],
  ['{"result": @, "draft": #}', /invalid/],
  ['Wrapped: {"answer": @} as text', /invalid/],
  ['[@, #, 5]', /invalid/],
  ['{"city": @,}', /not JSON/],
  ['"no"', /invalid/],
  ['7', /invalid/],
];

const filled = (template: string, { right, other, wrong }: (typeof kinds)['object' | 'array' | 'union']) =>
  template
    .replaceAll('@', () => right)
    .replaceAll('#', () => other)
    .replaceAll('%', () => wrong);

describe.each(Object.entries(kinds))('the answer of a model that was asked for one %s', (_kind, kind) => {
  const ask = (template: string) =>
    new Agent({ model: scriptedModel([filled(template, kind)]) }).run('go', { output: kind.schema, maxTurns: 1 });

  test.each(read)('is the one value that fits in %j', async (template) => {
    expect((await ask(template)).output).toEqual(JSON.parse(kind.right));
  });

  test.each(refused)('is not guessed from %j', async (template, reason) => {
    const error = await ask(template).catch((thrown: OutputInvalidError) => thrown);

    expect(error).toBeInstanceOf(Error);
    expect((error as OutputInvalidError).message).toMatch(reason);
  });
});

test('there are two hundred answers', () => {
  expect((read.length + refused.length) * Object.keys(kinds).length).toBeGreaterThanOrEqual(200);
});
