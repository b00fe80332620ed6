import { describeError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { readJson } from '../../internal/read-json.js';
import { compileJsonSchema, lostReference } from '../../tools/json-schema-check.js';
import { isCompilable } from '../schema/schema-cost.js';

/**
 * Returns the problem with a tool's input schema, or undefined. A schema must describe an object, conform to the
 * meta-schema, and refer only to schemas inside itself. It may have `maxLength` characters of JSON and 64 levels.
 */
export function problemOfSchema(schema: unknown, maxLength: number): string | undefined {
  if (!isObject(schema)) return 'its input schema must be an object';
  const tooLarge = problemOfSize(schema, maxLength);
  if (tooLarge !== undefined) return tooLarge;
  if (schema.type !== 'object')
    return `its input schema must have the type "object", got ${JSON.stringify(schema.type)}`;
  const [issue] = checkSchema(schema).issues ?? [];
  if (issue !== undefined) {
    const path = pathText((issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step)));
    return `its input schema is invalid at \`${path}\`: ${issue.message}`;
  }
  return problemOfReferences(schema);
}

/** Returns a problem if a schema is too long or nested too deeply, otherwise undefined. */
export function problemOfSize(schema: unknown, maxLength: number): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(schema) ?? '';
  } catch (error) {
    return `its schema cannot be written as JSON: ${describeError(error)}`;
  }
  if (text.length > maxLength)
    return `its schema has ${text.length} characters, more than ${maxLength}; raise \`limits.schemaLength\``;
  const read = readJson(text);
  if ('problem' in read) return `its schema is refused: ${read.problem}`;
  if (!isObject(schema) || isCompilable(schema)) return undefined;
  return 'its schema is refused: it nests schemas with `$id`, or its names are too long for the number of its schemas';
}

function problemOfReferences(schema: JsonSchema): string | undefined {
  try {
    const lost = lostReference(schema);
    return lost === undefined
      ? undefined
      : `its input schema has the \`$ref\` ${JSON.stringify(lost)}, which must refer to a schema inside it`;
  } catch (error) {
    return `its input schema is invalid: ${describeError(error)}`;
  }
}

const SCHEMA = { $ref: '#' };
const SCHEMAS = { type: 'array', minItems: 1, items: SCHEMA };
const SCHEMA_MAP = { type: 'object', additionalProperties: SCHEMA };
const NAMES = { type: 'array', items: { type: 'string' } };
const NUMBER = { type: 'number' };
const COUNT = { type: 'integer', minimum: 0 };
const STRING = { type: 'string' };
/** In draft 4, an exclusive bound is a boolean. */
const BOUND = { type: ['number', 'boolean'] };
const TYPE = { enum: ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] };
const TYPES = { type: 'array', items: TYPE, minItems: 1, maxItems: 7, uniqueItems: true };

function each<Value>(names: string, value: Value): Record<string, Value> {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]));
}

/** Combines the meta-schemas of the drafts 4 to 2020-12. A keyword may have any value that one of them allows. */
const META_SCHEMA: JsonSchema = {
  type: ['object', 'boolean'],
  properties: {
    ...each('not if then else contains propertyNames additionalProperties additionalItems', SCHEMA),
    ...each('unevaluatedProperties unevaluatedItems', SCHEMA),
    ...each('allOf anyOf oneOf prefixItems', SCHEMAS),
    ...each('properties $defs definitions dependentSchemas', SCHEMA_MAP),
    ...each('minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties', COUNT),
    ...each('minimum maximum', NUMBER),
    ...each('exclusiveMinimum exclusiveMaximum', BOUND),
    ...each('format $ref $id $anchor $dynamicRef $dynamicAnchor $schema', STRING),
    items: { anyOf: [SCHEMA, SCHEMAS] },
    patternProperties: { ...SCHEMA_MAP, propertyNames: { format: 'regex' } },
    dependencies: { type: 'object', additionalProperties: { anyOf: [SCHEMA, NAMES] } },
    dependentRequired: { type: 'object', additionalProperties: NAMES },
    type: { anyOf: [TYPE, TYPES] },
    enum: { type: 'array' },
    required: NAMES,
    pattern: { type: 'string', format: 'regex' },
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    uniqueItems: { type: 'boolean' },
  },
};

const checkSchema = compileJsonSchema(META_SCHEMA);
