import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defaultLimits } from '../../../src/mcp/config/settings.js';
import { boundedCheck, CheckWorker } from '../../../src/mcp/schema/bounded-check.js';
import { compileJsonSchema } from '../../../src/tools/json-schema-check.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

const many = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
const record = (count: number, value: unknown) => Object.fromEntries(many(count).map((key) => [key, value]));
const slow = { pattern: '^(a|a)*$' };
const word = `${'a'.repeat(40)}!`;
const words = many(20_000);
const objects = many(5_000).map((text) => ({ text }));
/** The limit for the schema of a tool, in characters. */
const { schemaLength } = defaultLimits;

function doubling(levels: number): Record<string, unknown> {
  const defs = Object.fromEntries(
    Array.from({ length: levels }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, at === levels - 1 ? { type: 'string' } : { allOf: [next, next] }];
    }),
  );
  return { $defs: defs, $ref: '#/$defs/d0' };
}

/** A costly schema and a value to match, for each keyword of draft 2020-12 that evaluates a value. */
const costly: Readonly<Record<string, readonly [schema: Record<string, unknown>, value: unknown]>> = {
  $ref: [doubling(30), 1],
  $dynamicRef: [{ $dynamicRef: '#', items: slow }, [word]],
  type: [{ items: { type: [...many(5_000), 'string'] } }, many(5_000)],
  const: [{ items: { const: objects } }, Array.from({ length: 100 }, () => objects)],
  enum: [{ items: { enum: objects } }, objects],
  multipleOf: [{ items: { multipleOf: 5e-324 } }, Array.from({ length: 20_000 }, () => 1.7e308)],
  maximum: [{ items: { anyOf: Array.from({ length: 2_000 }, () => ({ maximum: 0 })) } }, words.map((_, at) => at)],
  minimum: [{ items: { anyOf: Array.from({ length: 2_000 }, () => ({ minimum: 9e9 })) } }, words.map((_, at) => at)],
  exclusiveMaximum: [
    { items: { allOf: Array.from({ length: 2_000 }, () => ({ exclusiveMaximum: 9e9 })) } },
    [...words.keys()],
  ],
  exclusiveMinimum: [
    { items: { allOf: Array.from({ length: 2_000 }, () => ({ exclusiveMinimum: -1 })) } },
    [...words.keys()],
  ],
  maxLength: [{ allOf: Array.from({ length: 2_000 }, () => ({ maxLength: 9e9 })) }, 'x'.repeat(1_000_000)],
  minLength: [{ allOf: Array.from({ length: 2_000 }, () => ({ minLength: 1 })) }, 'x'.repeat(1_000_000)],
  pattern: [slow, word],
  format: [{ format: 'url' }, `http://${'a'.repeat(60)}!`],
  prefixItems: [{ prefixItems: many(5_000).map(() => slow) }, words.map(() => word)],
  items: [{ items: slow }, words.map(() => word)],
  contains: [{ contains: { enum: objects } }, objects.map(({ text }) => ({ text: `${text}!` }))],
  maxContains: [{ contains: slow, maxContains: 1 }, words.map(() => word)],
  minContains: [{ contains: slow, minContains: 1 }, words.map(() => word)],
  unevaluatedItems: [{ unevaluatedItems: slow }, words.map(() => word)],
  uniqueItems: [{ uniqueItems: true }, objects],
  maxItems: [{ allOf: Array.from({ length: 10_000 }, () => ({ maxItems: 0 })) }, words],
  minItems: [{ allOf: Array.from({ length: 5_000 }, () => ({ minItems: 9e9 })) }, words],
  properties: [{ items: { properties: record(5_000, { type: 'string' }) } }, words.map(() => record(10, ''))],
  patternProperties: [{ patternProperties: { '^(a|a)*$': {} } }, { [word]: 1 }],
  additionalProperties: [{ additionalProperties: slow }, record(1_000, word)],
  unevaluatedProperties: [{ unevaluatedProperties: slow }, record(1_000, word)],
  propertyNames: [{ propertyNames: slow }, { [word]: 1 }],
  required: [{ items: { required: many(20_000) } }, words.map(() => ({}))],
  dependentRequired: [{ items: { dependentRequired: { a: many(20_000) } } }, words.map(() => ({ a: 1 }))],
  dependentSchemas: [{ dependentSchemas: { a: { propertyNames: slow } } }, { a: 1, [word]: 1 }],
  maxProperties: [{ allOf: Array.from({ length: 2_000 }, () => ({ maxProperties: 0 })) }, record(20_000, 1)],
  minProperties: [{ allOf: Array.from({ length: 2_000 }, () => ({ minProperties: 9e9 })) }, record(20_000, 1)],
  allOf: [{ allOf: many(100).map(() => ({ enum: many(200) })) }, word],
  anyOf: [{ anyOf: many(100).map(() => ({ enum: many(200) })) }, word],
  oneOf: [{ oneOf: many(100).map(() => ({ enum: many(200) })) }, word],
  not: [{ not: slow }, word],
  if: [{ if: slow }, word],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: [{ if: true, then: slow }, word],
  else: [{ if: false, else: slow }, word],
};

function workerOf(options: ConstructorParameters<typeof CheckWorker>[0] = {}): CheckWorker {
  return new CheckWorker({ checkMs: 50, idleMs: 50, ...options });
}

test('the measure of these tests notices a check that holds the thread', { timeout: 60_000 }, async () => {
  const check = compileJsonSchema(slow);
  let hold = 0;
  // Each additional letter doubles the work, so any machine soon needs more than 100 ms.
  for (let length = 16; hold <= 100 && length < 28; length++) {
    hold = await longestHold(() => check(`${'a'.repeat(length)}!`));
  }

  expect(hold).toBeGreaterThan(100);
});

// `npm run soak` combines keywords at random.
describe('a costly check', () => {
  test.each(Object.entries(costly))('does not hold the thread with `%s`', async (_keyword, [schema, value]) => {
    expect(JSON.stringify(schema).length).toBeLessThan(schemaLength);
    const check = boundedCheck(schema, workerOf());

    expect(await longestHold(() => check(value))).toBeLessThan(100);
  });

  test('ends with its abort signal, and the next check runs', async () => {
    const worker = workerOf({ checkMs: 60_000 });
    const controller = new AbortController();
    const reason = new RangeError('no longer needed');
    const running = boundedCheck(slow, worker)(word, controller.signal);
    const waiting = boundedCheck(slow, worker)(word, controller.signal);
    setTimeout(() => controller.abort(reason), 20);

    await expect(running).rejects.toBe(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect.poll(() => worker.isRunning).toBe(false);
    expect(await boundedCheck({ uniqueItems: true }, worker)(words.slice(0, 1_000))).toEqual({
      value: words.slice(0, 1_000),
    });
  });
});

describe('`format` is an annotation', () => {
  const formats: readonly [format: string, value: string][] = [
    ['date-time', '2026-01-01T10:00:00'],
    ['time', '10:00'],
    ['uuid', '0'.repeat(32)],
    ['duration', '01:30:00'],
    ['uri', '/path'],
    ['regex', '(?i)abc'],
    ['email', 'no address'],
  ];
  const schemaOf = (format: string) => ({
    ...{ $defs: { date: { format } }, properties: { at: { $ref: '#/$defs/date' }, kind: { const: { format } } } },
    ...{ dependencies: { format: ['at'] } },
  });

  test.each(formats)('%s', async (format, at) => {
    const worker = workerOf({ checkMs: 5_000 });
    const check = boundedCheck(schemaOf(format), worker);

    expect((await check({ at, kind: { format } })).issues).toBe(undefined);
    expect((await check({ kind: {} })).issues).not.toBe(undefined);
    expect((await check({ format: 1 })).issues).not.toBe(undefined);
    expect(worker.isRunning).toBe(true);
  });
});

describe('a pattern that JavaScript does not have checks nothing', () => {
  test.each(['(?i)^abc$', '(?P<year>\\d+)', '^a\\_b$', '(', 'x{2,1}'])('%s', async (pattern) => {
    const text = { type: 'string', pattern, maxLength: 5 };
    const check = boundedCheck({ properties: { a: text, pattern: { pattern: '^b' } } });

    expect((await check({ a: 'ABC', pattern: 'b' })).issues).toBe(undefined);
    expect((await check({ a: 'too long' })).issues).toHaveLength(1);
    expect((await check({ pattern: 'ABC' })).issues).toHaveLength(1);
  });

  test('as a name of `patternProperties`: other properties are allowed, and the other patterns are checked', async () => {
    const named = { patternProperties: { '(?i)^x-': { type: 'string' }, '^n_': { type: 'number' } } };
    const check = boundedCheck({ ...named, additionalProperties: false, required: ['n_1'] });
    const closed = boundedCheck({ allOf: [named], unevaluatedProperties: false });

    expect((await check({ 'X-a': 'b', n_1: 1 })).issues).toBe(undefined);
    expect((await check({ n_1: 'one' })).issues).not.toBe(undefined);
    expect((await check({ 'X-a': 'b' })).issues).toHaveLength(1);
    expect((await closed({ 'X-a': 'b', n_1: 1 })).issues).toBe(undefined);
  });
});

test('`nullable: true` of OpenAPI allows null', async () => {
  const name = { type: 'string', nullable: true };
  const check = boundedCheck(
    { properties: { name, kind: { enum: ['a'], nullable: true }, no: { type: 'string' } } },
    workerOf({ checkMs: 5_000 }),
  );

  expect((await check({ name: null, kind: null })).issues).toBe(undefined);
  expect((await check({ name: 1 })).issues).not.toBe(undefined);
  expect((await check({ no: null })).issues).not.toBe(undefined);
});

describe('a boolean `exclusiveMinimum` has its meaning in draft 4', () => {
  const above: Record<string, unknown> = { type: 'number', minimum: 0, exclusiveMinimum: true };
  const checkOf = (one: Record<string, unknown>, root = {}) =>
    boundedCheck({ ...root, properties: { list: { items: one } } }, workerOf({ checkMs: 5_000 }));
  const passing = async (check: ReturnType<typeof boundedCheck>, values: readonly number[]) => {
    const results = await Promise.all(values.map((value) => check({ list: [value] })));
    return values.filter((_value, at) => results[at]?.issues === undefined);
  };

  test.each([
    ['no `$schema`', undefined],
    ['draft 4', 'http://json-schema.org/draft-04/schema#'],
    ['draft 7', 'http://json-schema.org/draft-07/schema#'],
    ['draft 2020-12', 'https://json-schema.org/draft/2020-12/schema'],
  ])('with %s', async (_title, $schema) => {
    const root = $schema === undefined ? {} : { $schema };

    expect(await passing(checkOf(above, root), [-1, 0, 1])).toEqual([1]);
    expect(await passing(checkOf({ ...above, exclusiveMinimum: false }, root), [-1, 0, 1])).toEqual([0, 1]);
    expect(await passing(checkOf({ maximum: 5, exclusiveMaximum: true }, root), [4, 5, 6])).toEqual([4]);
    expect(await passing(checkOf({ exclusiveMinimum: true, maximum: 1 }, root), [0, 1, 2])).toEqual([0, 1]);
    expect(await passing(checkOf({ exclusiveMinimum: 1, exclusiveMaximum: 3 }, root), [0, 1, 2, 3])).toEqual([2]);
  });

  test('also in a part of a union', async () => {
    const either = checkOf({ anyOf: [above, { maximum: -5, exclusiveMaximum: true }] });

    expect(await passing(either, [-6, -5, 0, 1])).toEqual([-6, 1]);
  });
});

describe('the worker', () => {
  test('starts for the first check, and ends after a pause', async () => {
    const worker = workerOf({ checkMs: 5_000, idleMs: 20 });
    expect(worker.isRunning).toBe(false);
    expect(await boundedCheck({ type: 'array' }, worker)(['a', 'b'])).toEqual({ value: ['a', 'b'] });
    expect(worker.isRunning).toBe(true);
    await expect.poll(() => worker.isRunning).toBe(false);
  });

  test('has two seconds for a check, and ends after five seconds without one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const worker = new CheckWorker();
    await boundedCheck({ type: 'array' }, worker)([]);
    vi.advanceTimersByTime(4_999);
    expect(worker.isRunning).toBe(true);
    vi.advanceTimersByTime(1);
    expect(worker.isRunning).toBe(false);

    await boundedCheck({ type: 'array' }, worker)([]);
    const checking = boundedCheck(slow, worker)(word);
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1_999);
    expect(worker.isRunning).toBe(true);
    vi.advanceTimersByTime(1);

    expect((await checking).issues).toEqual([{ message: 'It takes too long to be checked.', path: [] }]);
  });

  test('has the same outcome as a check on the main thread', async () => {
    const worker = workerOf({ checkMs: 5_000 });
    onTestFinished(() => expect.poll(() => worker.isRunning).toBe(false));
    const pad = { $comment: 'x', allOf: Array.from({ length: 300 }, () => ({ enum: [...many(200), 1, 'ab', null] })) };
    for (const value of [1, 'ab', null, 'no', {}, []]) {
      const there = await boundedCheck(pad, worker)(value);
      const here = compileJsonSchema(pad)(value);
      expect(there.issues === undefined).toBe(here.issues === undefined);
    }
    expect(worker.isRunning).toBe(true);
  });

  test('reports a value that JSON cannot hold', async () => {
    const check = boundedCheck({ items: slow }, workerOf());
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);

    expect((await check([word, 1n])).issues?.[0]?.message).toBe('It holds a value that JSON cannot hold.');
    expect((await check([word, cyclic])).issues?.[0]?.message).toBe('It holds a value that JSON cannot hold.');
  });
});
