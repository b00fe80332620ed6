import type { JsonSchema } from '../../../internal/json.js';
import { defined, isObject, textOr, type WireObject } from '../wire.js';
import { toDraft2020 } from './draft-2020.js';

const MAX_DEPTH = 20;
/** Limit of all merged schemas, in characters. References can repeat the same subschema thousands of times. */
const MAX_WORK = 1_000_000;
/** Characters counted for each property name, whatever its length. */
const NAME_WORK = 20;
/** Limit in characters for the merged schema of one property, and for the schema in the description. */
const MAX_TEXT = 10_000;
/** Matches a reference into root keywords that the result does not contain. */
const LOST_REFERENCE = /"\$ref":"#\/(?:allOf|anyOf|oneOf|not)\//;

/**
 * Returns the schema of a tool's arguments in the form that servers accept: an object without alternatives at its root.
 * The schema has the form of draft 2020-12. OpenAI and others refuse root alternatives. Their properties are merged, and required if every alternative requires
 * them.
 * The description quotes the removed keywords. Calls are still validated against the tool's own schema.
 */
export function toolParameters(given: JsonSchema): WireObject {
  const schema = withoutDialect(toDraft2020(given));
  const { $ref, allOf, anyOf, oneOf, enum: values, not, ...rest } = schema;
  const refused = defined({ $ref, allOf, anyOf, oneOf, enum: values, not });
  // OpenAI requires `properties`, even for a tool without arguments.
  if (Object.keys(refused).length === 0) return { properties: {}, ...schema, type: 'object' };
  const { properties, required } = new FieldCollector(schema).collect(schema, 0);
  return defined({
    ...rest,
    type: 'object',
    description: [textOr(rest.description), inWords(refused)].filter((text) => text !== '').join('\n') || undefined,
    properties: Object.fromEntries([...properties].map(([name, value]) => [name, withoutLostReference(value)])),
    required: required.size > 0 ? [...required] : undefined,
  });
}

/** Removes `$schema`, which Gemini refuses. */
export function withoutDialect({ $schema, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function inWords(refused: WireObject): string {
  const text = JSON.stringify(refused);
  return text.length <= 2 || text.length > MAX_TEXT ? '' : `The arguments must also match this JSON Schema: ${text}`;
}

function withoutLostReference(schema: unknown): unknown {
  return LOST_REFERENCE.test(JSON.stringify(schema)) ? {} : schema;
}

/** The properties of an object and the names of its required properties. */
interface Fields {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

const NONE: Fields = { properties: new Map(), required: new Set() };

/**
 * Collects the properties of an object from all parts of its schema. Depth and work are bounded, even for recursive
 * references.
 */
class FieldCollector {
  private readonly known = new Map<object, Fields>();
  private work = 0;

  constructor(private readonly root: JsonSchema) {}

  collect(schema: unknown, depth: number): Fields {
    if (!isObject(schema) || depth > MAX_DEPTH || this.work > MAX_WORK) return NONE;
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    // A recursive reference adds no properties.
    this.known.set(schema, NONE);
    const inner = (part: unknown) => this.collect(part, depth + 1);
    const { $ref, allOf, anyOf, oneOf } = schema;
    const all = [ownFields(schema), inner(this.target($ref)), ...(Array.isArray(allOf) ? allOf.map(inner) : [])];
    const fields = this.together([...all, this.alternatives(anyOf, inner), this.alternatives(oneOf, inner)]);
    this.known.set(schema, fields);
    return fields;
  }

  private alternatives(schemas: unknown, collect: (schema: unknown) => Fields): Fields {
    const found = Array.isArray(schemas) ? schemas.filter(canBeObject) : [];
    const [first, ...others] = found.map(collect);
    if (first === undefined) return NONE;
    const required = [...first.required].filter((name) => others.every((fields) => fields.required.has(name)));
    return { properties: this.joined([first, ...others], 'anyOf'), required: new Set(required) };
  }

  private together(parts: readonly Fields[]): Fields {
    const required = new Set(parts.flatMap(({ required }) => [...required]));
    return { properties: this.joined(parts, 'allOf'), required };
  }

  private joined(parts: readonly Fields[], keyword: 'allOf' | 'anyOf'): ReadonlyMap<string, unknown> {
    const found = new Map<string, Map<string, unknown>>();
    for (const { properties, required } of parts) {
      this.work += required.size * NAME_WORK;
      for (const [name, schema] of properties) {
        const text = JSON.stringify(schema) ?? '';
        this.work += text.length + NAME_WORK;
        const different = found.get(name) ?? new Map<string, unknown>();
        found.set(name, different.set(text, schema));
      }
    }
    return new Map([...found].map(([name, different]) => [name, oneOfAll(different, keyword)]));
  }

  private target(reference: unknown): unknown {
    if (!textOr(reference).startsWith('#/')) return undefined;
    return textOr(reference)
      .slice(2)
      .split('/')
      .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((node, step) => (isNode(node) && Object.hasOwn(node, step) ? node[step] : undefined), this.root);
  }
}

/** Generated names such as `Page<Item>` are percent-encoded in references. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function isNode(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null;
}

function ownFields({ properties, required }: WireObject): Fields {
  return {
    properties: new Map(isObject(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
  };
}

/** Arguments are objects, so alternatives of other types, such as null, are ignored. */
function canBeObject(schema: unknown): boolean {
  return schema !== false && (!isObject(schema) || [schema.type ?? 'object'].flat().includes('object'));
}

/** Merges the schemas of one property. The keys are their JSON, so equal schemas count once. */
function oneOfAll(different: ReadonlyMap<string, unknown>, keyword: 'allOf' | 'anyOf'): unknown {
  const schemas = [...different.values()];
  if (schemas.length === 1) return schemas[0];
  return [...different.keys()].join('').length > MAX_TEXT ? {} : { [keyword]: schemas };
}
