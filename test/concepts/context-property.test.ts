import { Agent, type AgentLifecycle, defineTool } from 'keelson';
import { conceptAugmentation } from 'keelson/concepts';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { augmentedRun, known } from '../support/concepts/augmented-run.js';

describe('S2-4.2d: the additional property', () => {
  const schema = z.object({ options: z.object({ query: z.string() }) });
  const run = (input: z.ZodType | Readonly<Record<string, unknown>>) =>
    augmentedRun(
      { options: { query: '[[x]]' } },
      {},
      defineTool({ name: 'work', description: 'Works.', input, execute: (given) => given as object }),
    );

  test('reaches a tool whose schema does not restrict additional properties', async () => {
    const { messages } = await run(schema);

    expect(messages[2]).toMatchObject({
      content: [{ structured: { options: { query: '[[x]]' }, _maenifold_context: 'about x' } }],
    });
  });

  const open = { type: 'object', properties: { options: { type: 'object' } } };
  const closed = { ...open, additionalProperties: false };
  test.each<[string, z.ZodType | Readonly<Record<string, unknown>>]>([
    ['a strict object', z.strictObject(schema.shape)],
    ['additionalProperties: false', closed],
    ['additionalProperties of another type', { ...open, additionalProperties: { type: 'number' } }],
    ['propertyNames with an enum', { ...open, propertyNames: { enum: ['options'] } }],
    ['patternProperties that match the name', { ...open, patternProperties: { '^_': false } }],
    ['a reference to a draft 7 definition', { $ref: '#/definitions/In', definitions: { In: closed } }],
    ['a reference to a reference', { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: closed } }],
  ])('H14: is left out if the schema forbids it with %s, and the tool still runs', async (_how, input) => {
    const { messages, log } = await run(input);

    expect(messages[2]?.content).toEqual([expect.objectContaining({ structured: { options: { query: '[[x]]' } } })]);
    expect(log.slice(1)).toEqual([
      {
        level: 'debug',
        message: 'Skipping augmentation for work',
        extra: { reason: 'no_place', sessionID: 'the run' },
      },
    ]);
  });

  test('is added to arguments that are already invalid, since an inner hook may fix them', async () => {
    const received: unknown[] = [];
    const input = z.object({ options: z.string(), count: z.number() });
    const work = defineTool({ name: 'work', description: 'Works.', input, execute: (given) => received.push(given) });
    const repair: AgentLifecycle = {
      priority: 10,
      wrapToolCall: (call, next) => next({ ...call, input: { ...(call.input as object), count: 2 } }),
    };
    const model = scriptedModel([calls('work', { options: '[[x]]', count: '2' }), says('end')]);
    const concepts = conceptAugmentation({ buildContext: known });
    await new Agent({ model, tools: [work], lifecycle: [concepts, repair] }).run('go');

    expect(received).toEqual([{ options: '[[x]]', count: 2, _maenifold_context: 'about x' }]);
  });

  test('replaces an existing property of the same name', async () => {
    const { received, log } = await augmentedRun({ topic: '[[a]]', _maenifold_context: 'made up' });

    expect(received).toEqual([{ topic: '[[a]]', _maenifold_context: 'about a' }]);
    expect(log.at(-1)?.message).toMatch(/^Augmented work with 1 concept/);
  });
});

test('the additional property is left out of a union with a closed member, and no record claims it', async () => {
  const input = z.union([z.strictObject({ id: z.number() }), z.object({ options: z.object({ query: z.string() }) })]);
  const work = defineTool({ name: 'work', description: 'Works.', input, execute: (given) => given as object });
  const { messages, log } = await augmentedRun({ options: { query: '[[x]]' } }, {}, work);

  expect(messages[2]?.content).toEqual([expect.objectContaining({ structured: { options: { query: '[[x]]' } } })]);
  expect(log.at(-1)).toMatchObject({ level: 'debug', extra: { reason: 'no_place' } });
});

test('the additional property is left out if the schema returns a string', async () => {
  const input = z.object({ topic: z.string() }).transform(({ topic }) => topic);
  const work = defineTool({ name: 'work', description: 'Works.', input, execute: (given) => given });
  const { messages, log } = await augmentedRun({ topic: '[[x]]' }, {}, work);

  expect(messages[2]).toMatchObject({ content: [{ content: '[[x]]' }] });
  expect(log.at(-1)).toMatchObject({ level: 'debug', extra: { reason: 'no_place' } });
});
