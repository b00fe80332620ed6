import { Agent, defineTool } from 'keelson';
import { type ApprovalOptions, approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resultsIn } from '../support/agent/transcript.js';

const amount = z.number().default(1000);
const inLater = async () => true;
const fail = (): boolean => {
  throw new RangeError('down');
};

/** Runs a call of `pay` with these arguments through `approval`. Returns the result, and the arguments of the tool. */
async function pay(schema: object, input: object, options: ApprovalOptions) {
  const ran: unknown[] = [];
  const tools = [
    defineTool({ name: 'pay', description: 'Pays.', input: schema, execute: (paid) => void ran.push(paid) }),
  ];
  const model = scriptedModel([calls({ id: 'a', name: 'pay', input }), 'Done.']);
  const result = await new Agent({ model, tools, lifecycle: [approval(options)] }).run('Go.');
  return { result, ran };
}

/** Returns all amounts in the arguments, at any depth. */
const amountsIn = (input: unknown) => JSON.stringify(input).match(/1000/g) ?? [];

describe('`when` and `ask` of `approval` get the arguments that the tool gets', () => {
  test.each([
    ['a default', z.object({ amount }), {}],
    ['a default in an object', z.object({ order: z.object({ amount }) }), { order: {} }],
    ['a default in a list', z.object({ items: z.array(z.object({ amount })) }), { items: [{}] }],
    ['a default in the place of a refused `null`', z.object({ amount }), { amount: null }],
    ['a default of an asynchronous schema', z.object({ order: z.object({ amount }) }).refine(inLater), { order: {} }],
    ['a default of a JSON Schema', { type: 'object', properties: { amount: { type: 'number', default: 1000 } } }, {}],
  ])('%s', async (_what, schema, input) => {
    const { result, ran } = await pay(schema, input, { when: (call) => amountsIn(call.input).length > 0 });

    expect({ status: result.status, ran }).toEqual({ status: 'suspended', ran: [] });
    expect(result.pending).toMatchObject([{ id: 'a' }]);
    expect(result.pending[0]).toHaveProperty('input', input);
  });

  test('an answer with exactly these arguments is an approval', async () => {
    const asked: unknown[] = [];
    const ask: ApprovalOptions['ask'] = ({ input }) => {
      asked.push(input);
      return { approve: input as { amount: number } };
    };

    const { result, ran } = await pay(z.object({ amount }), {}, { ask });

    expect({ asked, ran }).toEqual({ asked: [{ amount: 1000 }], ran: [{ amount: 1000 }] });
    expect(resultsIn(result.messages).a).toBe('Done.');
  });

  test.each([
    ['a value that the schema converts', z.object({ amount: z.string().transform((text) => new Date(text)) })],
    ['arguments that the schema refuses', z.object({ amount: z.number() })],
    ['arguments whose check throws', z.object({ amount: z.any().refine(() => fail()) })],
  ])('%s: as the model wrote them', async (_what, schema) => {
    const asked: unknown[] = [];
    const ask = ({ input }: { readonly input: unknown }) => {
      asked.push(input);
      return 'deny';
    };

    await pay(schema, { amount: '2026-01-01' }, { ask });

    expect(asked).toEqual([{ amount: '2026-01-01' }]);
  });
});
