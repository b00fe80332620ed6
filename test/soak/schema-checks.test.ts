import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { OptionInvalidError } from 'keelson';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../src/mcp/config/settings.js';
import { boundedCheck, CheckWorker } from '../../src/mcp/schema/bounded-check.js';
import { pause } from '../support/agent/settle.js';
import { longestHold } from '../support/mcp/longest-hold.js';
import {
  casesOf,
  combinedCases,
  fragments,
  keywordsIn,
  type SchemaCase,
} from '../support/mcp/schemas/random-schemas.js';

/** The meta-schemas of draft 2020-12, one for each vocabulary, and one for deprecated keywords. */
const folder = new URL('../fixtures/json-schema/', import.meta.url);
const keywords = readdirSync(folder).flatMap((name) =>
  Object.keys(JSON.parse(readFileSync(new URL(name, folder), 'utf8')).properties),
);
const size = { schema: defaultLimits.schemaLength / 2, value: 2_000_000 };
/** A random sample. The report of a failure contains the seed. */
const seed = Date.now();
const worker = new CheckWorker({ checkMs: 25, idleMs: 1_000 });

/** Checks the value. A schema that cannot be used is refused, as when a tool is called. */
async function check({ schema, value }: SchemaCase, signal?: AbortSignal): Promise<unknown> {
  try {
    return await boundedCheck(schema, worker)(value, signal);
  } catch (error) {
    if (error instanceof OptionInvalidError) return error;
    throw error;
  }
}

/** Fails if a check of the case holds the thread for 100 ms, or outlives its abort by that time. */
async function expectBounded(one: SchemaCase): Promise<void> {
  expect(JSON.stringify(one.schema).length).toBeLessThan(defaultLimits.schemaLength);
  expect(await longestHold(() => check(one))).toBeLessThan(100);
  if (worker.isRunning) expect(await msAfterAbort(one)).toBeLessThan(100);
}

async function msAfterAbort(one: SchemaCase): Promise<number> {
  let shortest = Infinity;
  for (let tries = 0; tries < 8 && shortest > 50; tries++) {
    const controller = new AbortController();
    const running = check(one, controller.signal).catch((error: unknown) => error);
    await pause(1);
    const start = performance.now();
    controller.abort(new RangeError('no longer needed'));
    await running;
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

test('the generator has each keyword of the vocabularies', () => {
  expect(Object.keys(fragments).sort()).toEqual(keywords.sort());
});

describe('a check of a random schema does not hold the thread, and ends with its abort signal:', () => {
  test.each(keywords)('%s', { timeout: 600_000 }, async (keyword) => {
    const own = { seed: seed + keywords.indexOf(keyword), numRuns: 40 };
    const cases = fc.sample(casesOf(keyword, size), own);
    expect(cases.map(({ schema }) => [...keywordsIn(schema)])).toEqual(
      cases.map(() => expect.arrayContaining([keyword])),
    );
    for (const one of cases) await expectBounded(one);
  });

  test('all keywords combined', { timeout: 600_000 }, async () => {
    const property = fc.asyncProperty(combinedCases(size), expectBounded);
    await fc.assert(property, { seed, numRuns: 200, endOnFailure: true });
  });

  test('the combinations contain each keyword', () => {
    const seen = new Set<string>();
    for (const { schema } of fc.sample(combinedCases({ schema: 20_000, value: 20_000 }), { seed, numRuns: 100 }))
      keywordsIn(schema, seen);
    expect(keywords.filter((keyword) => !seen.has(keyword))).toEqual([]);
  });
});
