import type { JsonSchema } from '../../../internal/json.js';
import { defined, isObject, textOr, type WireObject } from '../wire.js';
import { toDraft2020 } from './draft-2020.js';
import { targetOf, withReferences } from './references.js';

const MAX_DEPTH = 20;
/**
 * The largest total length of the schemas that are merged, in characters. References can repeat the same schema
 * thousands of times, which would take too long.
 */
const MAX_WORK = 1_000_000;
/** The number of characters that each property name counts towards the limit, whatever its length. */
const NAME_WORK = 20;
/**
 * The largest length of one property's merged schema, and of a schema that is quoted in the description, in characters.
 */
const MAX_TEXT = 10_000;
const known = new WeakMap<JsonSchema, WireObject>();

/**
 * Converts the schema of a tool's arguments to a form that servers accept: a plain object in draft 2020-12. OpenAI and
 * others refuse `anyOf` and similar keywords at the root.
 *
 * The properties of all alternatives are merged into one object. A property is required if every alternative requires
 * it. The description quotes the removed keywords. Calls are still validated against the tool's own schema.
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

/** Matches the start of a reference that points into an alternative at the root. */
const ALTERNATIVE = /^#(?:\/(?:allOf|anyOf|oneOf)\/\d+)+(?=\/properties\/)/;

/**
 * Returns a reference to the same schema in the merged object. Returns undefined if the merged object does not contain
 * the schema.
 */
function keptReference(reference: string, before: WireObject, merged: WireObject): string | undefined {
  const target = targetOf(before, reference);
  if (target === undefined || targetOf(merged, reference) !== undefined) return reference;
  const moved = reference.replace(ALTERNATIVE, '#');
  return JSON.stringify(targetOf(merged, moved)) === JSON.stringify(target) ? moved : undefined;
}

/** Returns the schema without `$schema`, which Gemini refuses. */
export function withoutDialect({ $schema, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function inWords(refused: WireObject): string {
  const text = JSON.stringify(refused);
  return text.length <= 2 || text.length > MAX_TEXT ? '' : `The arguments must also match this JSON Schema: ${text}`;
}

/** The properties of an object, and the names of those that are required. */
interface Fields {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

const NONE: Fields = { properties: new Map(), required: new Set() };

/**
 * Collects the properties of an object from its schema and from all alternatives and references in it. Limits the depth
 * and the work, because references may be recursive.
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
 * True for a schema that allows an object. Other alternatives, such as null, can be ignored, because arguments are
 * always an object.
 */
function canBeObject(schema: unknown): boolean {
  return schema !== false && (!isObject(schema) || [schema.type ?? 'object'].flat().includes('object'));
}

/**
 * Merges the different schemas of one property with `allOf` or `anyOf`. The keys are the schemas as JSON, so that equal
 * schemas count once.
 */
function oneOfAll(different: ReadonlyMap<string, unknown>, keyword: 'allOf' | 'anyOf'): unknown {
  const schemas = [...different.values()];
  if (schemas.length === 1) return schemas[0];
  return [...different.keys()].join('').length > MAX_TEXT ? {} : { [keyword]: schemas };
}
