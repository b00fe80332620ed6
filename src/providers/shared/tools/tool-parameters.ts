import type { JsonSchema } from '../../../internal/json.js';
import { defined, isObject, textOr, type WireObject } from '../wire.js';
import { toDraft2020 } from './draft-2020.js';
import { targetOf, withReferences } from './references.js';

const MAX_DEPTH = 20;
/**
 * The maximum total length of merged schemas, in characters. References can repeat the same subschema thousands of
 * times.
 */
const MAX_WORK = 1_000_000;
/** The number of characters that each property name counts, whatever its length. */
const NAME_WORK = 20;
/** The maximum length of one property's merged schema, and of the schema in the description, in characters. */
const MAX_TEXT = 10_000;
const known = new WeakMap<JsonSchema, WireObject>();

/**
 * Returns the schema of a tool's arguments in a form that servers accept: an object without alternatives at its root,
 * in draft 2020-12. OpenAI and others refuse alternatives at the root.
 *
 * The properties of the alternatives are merged. A property is required if every alternative requires it. The
 * description quotes the removed keywords. Calls are still validated against the tool's own schema.
 *
 * Throws an OptionInvalidError if the schema does not match the meta-schema of draft 2020-12.
 */
export function toolParameters(given: JsonSchema): WireObject {
  const parameters = known.get(given) ?? parametersOf(withoutDialect(toDraft2020(given)));
  known.set(given, parameters);
  return parameters;
}

function parametersOf(schema: JsonSchema): WireObject {
  const { $ref, allOf, anyOf, oneOf, enum: values, not, ...rest } = schema;
  const refused = defined({ $ref, allOf, anyOf, oneOf, enum: values, not });
  // OpenAI requires `properties`, even for a tool without arguments.
  if (Object.keys(refused).length === 0) return { properties: {}, ...schema, type: 'object' };
  const { properties, required } = new FieldCollector(schema).collect(schema, 0);
  const merged = defined({
    ...rest,
    type: 'object',
    description: [textOr(rest.description), inWords(refused)].filter((text) => text !== '').join('\n') || undefined,
    properties: Object.fromEntries(properties),
    required: required.size > 0 ? [...required] : undefined,
  });
  return withReferences(merged, (reference) => keptReference(reference, schema, merged));
}

/** Matches the start of a reference to a root alternative. */
const ALTERNATIVE = /^#(?:\/(?:allOf|anyOf|oneOf)\/\d+)+(?=\/properties\/)/;

/**
 * Returns the reference to the same schema after the alternatives were merged. Returns undefined if the merged schema
 * does not contain it.
 */
function keptReference(reference: string, before: WireObject, merged: WireObject): string | undefined {
  const target = targetOf(before, reference);
  if (target === undefined || targetOf(merged, reference) !== undefined) return reference;
  const moved = reference.replace(ALTERNATIVE, '#');
  return JSON.stringify(targetOf(merged, moved)) === JSON.stringify(target) ? moved : undefined;
}

/** Removes `$schema`, which Gemini refuses. */
export function withoutDialect({ $schema, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function inWords(refused: WireObject): string {
  const text = JSON.stringify(refused);
  return text.length <= 2 || text.length > MAX_TEXT ? '' : `The arguments must also match this JSON Schema: ${text}`;
}

/** The properties of an object and the names of its required properties. */
interface Fields {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

const NONE: Fields = { properties: new Map(), required: new Set() };

/**
 * Collects the properties of an object from all parts of its schema. Limits depth and work, even for recursive
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
    const all = [
      ownFields(schema),
      inner(targetOf(this.root, $ref)),
      ...(Array.isArray(allOf) ? allOf.map(inner) : []),
    ];
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
}

function ownFields({ properties, required }: WireObject): Fields {
  return {
    properties: new Map(isObject(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
  };
}

/**
 * True for a schema that allows objects. Alternatives of other types, such as null, are ignored, because arguments are
 * objects.
 */
function canBeObject(schema: unknown): boolean {
  return schema !== false && (!isObject(schema) || [schema.type ?? 'object'].flat().includes('object'));
}

/** Merges the schemas of one property. The keys are the schemas as JSON, so equal schemas count once. */
function oneOfAll(different: ReadonlyMap<string, unknown>, keyword: 'allOf' | 'anyOf'): unknown {
  const schemas = [...different.values()];
  if (schemas.length === 1) return schemas[0];
  return [...different.keys()].join('').length > MAX_TEXT ? {} : { [keyword]: schemas };
}
