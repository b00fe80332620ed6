import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from '../../src/internal/read-json.js';
import { defaultLimits } from '../../src/mcp/config/settings.js';
import { readToolSpec } from '../../src/mcp/tools/spec.js';
import { growth } from '../support/growth.js';

const SIZE = 20_000;
const limits = { ...defaultLimits, schemaLength: SIZE };

const fixture = JSON.stringify({
  mcpServers: { a: { command: 'npx', args: ['-y', 'x'], env: { A: '\u0001"}' } } },
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo "{\\n"' }] }] },
  properties: { a: { type: ['string', 'null'], pattern: '^a+$' }, b: { $ref: '#/properties/a' } },
  type: 'object',
});

const mutated = fc
  .array(fc.tuple(fc.nat(fixture.length), fc.nat(8), fc.string({ maxLength: 3 })))
  .map((cuts) => cuts.reduce((text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length), fixture));
const random = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Buffer.from(bytes).toString('utf8'));
const nested = (size: number) =>
  fc
    .array(fc.constantFrom('[', '{"a":', '{"type":"object","not":', '{"$ref":"#","allOf":[', '/*', '"\\', '{"a":1,'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((pieces) => pieces.join('').repeat(size / pieces.join('').length));

function readAll(text: string, comments: boolean) {
  const read = readJson(text, { comments });
  const spec = 'value' in read ? readToolSpec({ name: 'a', inputSchema: read.value }, limits) : read;
  return { read, spec };
}

test.each([
  ['random bytes', random(SIZE)],
  ['mutated fixtures', mutated],
  ['deep nesting', nested(SIZE)],
])(
  '%s give a value or a typed problem, and never throw',
  (_what, texts) => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, comments) => {
        const { read, spec } = readAll(text, comments);

        expect('name' in spec || spec.problem.length > 0).toBe(true);
        if ('problem' in read) expect([read.line > 0, read.column > 0]).toEqual([true, true]);
      }),
    );
  },
  60_000,
);

test.each([
  ['random bytes', random],
  ['deep nesting', nested],
])('reading %s takes linear time', async (_what, textsOf) => {
  const readMany = (size: number) => {
    const texts = fc.sample(textsOf(size), { numRuns: 20, seed: 1 });
    return () => {
      for (const text of texts) for (const comments of [true, false]) readAll(text, comments);
    };
  };

  expect(await growth(SIZE / 16, readMany)).toBeLessThan(100);
});
