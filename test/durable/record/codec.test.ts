import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Codec } from '../../../src/durable/record/codec.js';

const step = { name: 'tool a 1', key: 'run:1' };
const inline = new Codec({ maxInlineBytes: 1_000 });

describe('the codec of step results', () => {
  test('any JSON value and bytes at any depth come back', async () => {
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.uint8Array(),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constant('$keelson'), fc.constant('__proto__')), tie('value'), {
          maxKeys: 4,
        }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(values.value, async (value) => {
        const json = await inline.encode(value, step);
        expect(await inline.decode(JSON.parse(JSON.stringify(json)), step)).toEqual(value);
      }),
      { numRuns: 100 },
    );
  });

  test('large bytes go to the blob store, under a key of the step', async () => {
    const blobs = new Map<string, Uint8Array>();
    const store = {
      put: async (key: string, bytes: Uint8Array) => void blobs.set(key, bytes),
      get: async (key: string) => blobs.get(key),
    };
    const codec = new Codec({ blobs: store, maxInlineBytes: 2 });
    const value = { small: new Uint8Array([1, 2]), large: [new Uint8Array([1, 2, 3])] };

    const json = await codec.encode(value, step);

    expect([...blobs.keys()]).toEqual(['run:1/1']);
    expect(JSON.stringify(json)).toBe(
      '{"$keelson":"packed","value":{"small":{"$keelson":"bytes","base64":"AQI="},"large":[{"$keelson":"blob","key":"run:1/1"}]}}',
    );
    expect(await codec.decode(json, step)).toEqual(value);
    blobs.clear();
    await expect(async () => codec.decode(json, step)).rejects.toMatchObject({
      code: 'ERR_STEP_DATA',
      step: 'tool a 1',
    });
  });

  test('a Buffer comes back as bytes, a Date as its string, and undefined members are dropped', async () => {
    const value = { bytes: Buffer.from('hi'), at: new Date(0), none: undefined };

    expect(await inline.decode(await inline.encode(value, step), step)).toEqual({
      bytes: new Uint8Array([104, 105]),
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  test('a value that is not JSON is refused with the name of the step', async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [{ count: 1n }, cycle]) {
      await expect(async () => inline.encode(value, step)).rejects.toMatchObject({
        code: 'ERR_STEP_DATA',
        message: expect.stringContaining('The result of step "tool a 1" is not JSON'),
      });
    }
  });
});
