import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson, readJsonCut } from '../../src/internal/read-json.js';
import { defaultLimits } from '../../src/mcp/config/settings.js';
import { readToolSpec } from '../../src/mcp/tools/spec.js';

const SIZE = 20_000;
const limits = { ...defaultLimits, schemaLength: SIZE };
/** Time limit far above the usual time, because other programs may run on this machine. */
const MAX_MS = 2_000;

const fixture = JSON.stringify({
  mcpServers: { a: { command: 'npx', args: ['-y', 'x'], env: { A: '\u0001"}' } } },
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo "{\\n"' }] }] },
  properties: { a: { type: ['string', 'null'], pattern: '^a+$' }, b: { $ref: '#/properties/a' } },
  type: 'object',
});

const mutated = fc
  .array(fc.tuple(fc.nat(fixture.length), fc.nat(8), fc.string({ maxLength: 3 })))
  .map((cuts) => cuts.reduce((text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length), fixture));
const random = fc.uint8Array({ minLength: SIZE, maxLength: SIZE }).map((bytes) => Buffer.from(bytes).toString('utf8'));
const nested = fc
  .array(fc.constantFrom('[', '{"a":', '{"type":"object","not":', '{"$ref":"#","allOf":[', '/*', '"\\', '{"a":1,'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pieces) => pieces.join('').repeat(SIZE / pieces.join('').length));

test.each([
  ['random bytes', random],
  ['mutated fixtures', mutated],
  ['deep nesting', nested],
])(
  '%s give a value or a typed problem quickly, and never throw',
  (_what, texts) => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, comments) => {
        const begun = performance.now();
        const read = readJson(text, { comments });
        readJsonCut(text);
        const spec = 'value' in read ? readToolSpec({ name: 'a', inputSchema: read.value }, limits) : read;

        expect(performance.now() - begun).toBeLessThan(MAX_MS);
        expect('name' in spec || spec.problem.length > 0).toBe(true);
        if ('problem' in read) expect([read.line > 0, read.column > 0]).toEqual([true, true]);
      }),
    );
  },
  60_000,
);
