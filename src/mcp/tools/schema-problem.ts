import { isObject, isTexts } from '../../internal/json.js';
import { SchemaReferences } from './schema-references.js';

/** Says what is wrong with the value of a keyword, and where there are schemas in it. */
type Keyword = (value: unknown, visit: (schema: unknown, at: string) => void) => string | undefined;

const MAX_NODES = 20_000;
const MAX_DEPTH = 100;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/**
 * What is wrong with the schema of a tool's input, or undefined: it is one of an object, its keywords have values that
 * they can have, its patterns compile, and its references lead somewhere inside of it. Iterative, and bounded.
 */
export function problemOfSchema(schema: unknown): string | undefined {
  if (!isObject(schema)) return 'its input schema is no object';
  if (schema.type === undefined) return 'its input schema has no `type`, which has to be "object"';
  if (schema.type !== 'object') return `its input schema is one of ${JSON.stringify(schema.type)}, not of an object`;
  const references = new SchemaReferences(schema);
  const open: { schema: unknown; at: string; depth: number }[] = [{ schema, at: '#', depth: 0 }];
  for (let count = 0; open.length > 0; count++) {
    const { schema: node, at, depth } = open.pop() as (typeof open)[number];
    if (count > MAX_NODES || depth > MAX_DEPTH) return 'its input schema is too large or too deep';
    if (typeof node === 'boolean') continue;
    if (!isObject(node)) return `its input schema has no schema at ${at}`;
    const problem = problemOfNode(node, references, (inner, name) => {
      open.push({ schema: inner, at: `${at}/${name}`, depth: depth + 1 });
    });
    if (problem !== undefined) return `its input schema is not valid at ${at}: ${problem}`;
  }
  return undefined;
}

function problemOfNode(
  node: Readonly<Record<string, unknown>>,
  references: SchemaReferences,
  visit: (schema: unknown, at: string) => void,
): string | undefined {
  for (const [name, value] of Object.entries(node)) {
    const problem = KEYWORDS.get(name)?.(value, (schema, at) => visit(schema, at === '' ? name : `${name}/${at}`));
    if (problem !== undefined) return `\`${name}\` ${problem}`;
  }
  const lost = references.lostIn(node);
  return lost === undefined ? undefined : `\`$ref\` leads to ${JSON.stringify(lost)}, which is not in it`;
}

const check =
  (fits: (value: unknown) => boolean, problem: string): Keyword =>
  (value) =>
    fits(value) ? undefined : problem;

const schema: Keyword = (value, visit) => {
  visit(value, '');
  return undefined;
};

const schemaList: Keyword = (value, visit) => {
  if (!Array.isArray(value) || value.length === 0) return 'is no list of schemas';
  value.forEach((inner, at) => void visit(inner, String(at)));
  return undefined;
};

const schemaMap: Keyword = (value, visit) => {
  if (!isObject(value)) return 'is no object of schemas';
  for (const [name, inner] of Object.entries(value)) visit(inner, name);
  return undefined;
};

const patternMap: Keyword = (value, visit) => {
  const bad = isObject(value) ? Object.keys(value).find((name) => !isPattern(name)) : undefined;
  return bad === undefined ? schemaMap(value, visit) : `has the pattern ${JSON.stringify(bad)}, which does not compile`;
};

/** Of the older drafts: schemas, or names that are required beside. */
const dependencies: Keyword = (value, visit) => {
  if (!isObject(value)) return 'is no object';
  for (const [name, inner] of Object.entries(value)) if (!isTexts(inner)) visit(inner, name);
  return undefined;
};

const number = check((value) => typeof value === 'number', 'is no number');
const count = check((value) => Number.isInteger(value) && Number(value) >= 0, 'is no number from 0 on');
const flag = check((value) => typeof value === 'boolean', 'is neither true nor false');
const text = check((value) => typeof value === 'string', 'is no text');
/** A flag in draft 4. */
const limit = check((value) => typeof value === 'number' || typeof value === 'boolean', 'is no number');

const texts = check(isTexts, 'is no list of names');
/** A list in the older drafts. */
const items: Keyword = (value, visit) => (Array.isArray(value) && value.length > 0 ? schemaList : schema)(value, visit);

const KINDS: readonly (readonly [keyword: Keyword, names: string])[] = [
  [check(isType, 'is no type'), 'type'],
  [check((value) => Array.isArray(value), 'is no list'), 'enum'],
  [check(isPattern, 'does not compile'), 'pattern'],
  [check((value) => typeof value === 'number' && value > 0, 'is no number above 0'), 'multipleOf'],
  [
    check((value) => isObject(value) && Object.values(value).every(isTexts), 'has no lists of names'),
    'dependentRequired',
  ],
  [texts, 'required'],
  [number, 'minimum maximum'],
  [limit, 'exclusiveMinimum exclusiveMaximum'],
  [count, 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'],
  [flag, 'uniqueItems'],
  [text, 'format $ref $id $anchor $dynamicRef $dynamicAnchor $schema'],
  [schema, 'additionalProperties additionalItems contains propertyNames not if then else'],
  [schema, 'unevaluatedProperties unevaluatedItems'],
  [schemaList, 'allOf anyOf oneOf prefixItems'],
  [schemaMap, 'properties $defs definitions dependentSchemas'],
  [patternMap, 'patternProperties'],
  [items, 'items'],
  [dependencies, 'dependencies'],
];

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  KINDS.flatMap(([keyword, names]) => names.split(' ').map((name) => [name, keyword] as const)),
);

function isType(value: unknown): boolean {
  const types = Array.isArray(value) ? value : [value];
  return types.length > 0 && new Set(types).size === types.length && types.every((type) => TYPES.includes(type));
}

/** As it is compiled when a value is checked. */
function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
