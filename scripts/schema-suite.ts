/**
 * Runs the tests of the JSON Schema Test Suite for draft 2020-12 through the check that bounds schemas of MCP servers,
 * and through its validator alone. Fails if a test passes with the validator and not with the bounded check:
 *
 *     npm run schema-suite -- <folder>
 *
 * The folder is a copy of the suite's repository. Optional tests are left out. The script fetches nothing, so tests that
 * refer to remote schemas fail in both. `--list` prints each failed test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { validate } from '@cfworker/json-schema';
import type { JsonSchema } from '../src/internal/json.js';
import { boundedCheck } from '../src/mcp/schema/bounded-check.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('Usage: npm run schema-suite -- <folder> [--list]');
  process.exit(1);
}

/** The form of a file of the suite. */
interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** Returns the answer of the bounded check, or undefined if it refuses the schema. */
async function isValidHere(schema: JsonSchema, data: unknown): Promise<boolean | undefined> {
  try {
    return (await boundedCheck(schema)(data)).issues === undefined;
  } catch {
    return undefined;
  }
}

/** Returns the answer of the validator, or undefined if it cannot use the schema. */
function isValidAlone(schema: JsonSchema, data: unknown): boolean | undefined {
  try {
    return validate(data, structuredClone(schema), '2020-12').valid;
  } catch {
    return undefined;
  }
}

const tests = join(folder, 'tests', 'draft2020-12');
const passed = { here: 0, alone: 0 };
const lost: string[] = [];
let count = 0;
for (const file of readdirSync(tests).filter((name) => name.endsWith('.json'))) {
  for (const group of JSON.parse(readFileSync(join(tests, file), 'utf8')) as readonly Group[]) {
    for (const { description, data, valid } of group.tests) {
      const here = (await isValidHere(group.schema, data)) === valid;
      const alone = isValidAlone(group.schema, data) === valid;
      const name = `${file}: ${group.description}: ${description}`;
      count += 1;
      if (here) passed.here += 1;
      if (alone) passed.alone += 1;
      if (alone && !here) lost.push(name);
      if (values.list && !here) console.log(`failed${alone ? '' : ', also with the validator alone'}: ${name}`);
    }
  }
}
for (const name of lost) console.log(`Passes with the validator alone only: ${name}`);
const percent = (part: number) => `${part} of ${count} (${((100 * part) / count).toFixed(1)} %)`;
console.log(`bounded check: ${percent(passed.here)}, validator alone: ${percent(passed.alone)}`);
process.exit(lost.length === 0 && count > 0 ? 0 : 1);
