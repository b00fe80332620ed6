import fc from 'fast-check';
import { applicators } from './random-applicators.js';
import { assertions } from './random-assertions.js';
import { identifiers } from './random-identifiers.js';
import { type Fields, type Fragments, type SchemaCaseSize, SchemaSource } from './schema-source.js';

/** A schema, and a value for which the schema is costly to check. */
export interface SchemaCase {
  readonly schema: Fields;
  readonly value: unknown;
}

/** Creates a schema and a matching value for each keyword of draft 2020-12. */
export const fragments: Fragments = { ...identifiers, ...applicators, ...assertions };
const keywords = Object.keys(fragments);

/** Returns random cases with one keyword at the top. Subschemas have random keywords. */
export function casesOf(keyword: string, size: SchemaCaseSize): fc.Arbitrary<SchemaCase> {
  return casesWith(() => [keyword], size);
}

/** Returns random cases with two to four keywords beside each other at each level. */
export function combinedCases(size: SchemaCaseSize): fc.Arbitrary<SchemaCase> {
  return casesWith((source) => source.list(2, 4, () => source.oneOf(keywords)), size);
}

function casesWith(choose: (source: SchemaSource) => readonly string[], size: SchemaCaseSize) {
  const isWithinSize = ({ schema, value }: SchemaCase) =>
    isShorter(schema, 2 * size.schema) &&
    JSON.stringify(schema).length < 2 * size.schema &&
    isShorter(value, 4 * size.value);
  return fc.gen().map((draw): SchemaCase => {
    // `filter` would draw the same values again.
    for (let part = 1; ; part *= 2) {
      const made = caseOf(
        choose,
        new SchemaSource(draw, { schema: size.schema / part, value: size.value / part }, fragments),
      );
      if (isWithinSize(made)) return made;
    }
  });
}

function caseOf(choose: (source: SchemaSource) => readonly string[], source: SchemaSource): SchemaCase {
  const { schema, value } = source.merged(choose(source));
  const { $defs, ...own } = schema as Fields & { readonly $defs?: object };
  const defs = { ...$defs, ...source.defs };
  return { schema: Object.keys(defs).length === 0 ? own : { ...own, $defs: defs }, value };
}

/** Returns true if the JSON of a value has fewer than about `most` characters. */
function isShorter(value: unknown, most: number): boolean {
  let left = most;
  const open = [value];
  while (open.length > 0 && left > 0) {
    const next = open.pop();
    left -= typeof next === 'string' ? next.length + 3 : 5;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries(next)) {
      left -= name.length;
      open.push(member);
      if (left < 0) return false;
    }
  }
  return left > 0;
}

/** Returns the keywords in a schema and its subschemas. */
export function keywordsIn(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [name, member] of Object.entries(schema)) {
    if (Object.hasOwn(fragments, name)) found.add(name);
    keywordsIn(member, found);
  }
  return found;
}
