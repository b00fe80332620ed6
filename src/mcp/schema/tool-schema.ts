import { describeError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { compileJsonSchema, issuesOf, lostReference } from '../../tools/json-schema-check.js';
import type { StandardIssue } from '../../tools/standard-schema.js';
import { isDeeper } from '../transport/json-rpc.js';
import { sharedWorker } from './bounded-check.js';

const MAX_DEPTH = 64;

/**
 * Returns the problem with a tool's input schema, or undefined. A schema must describe an object, have at most
 * `maxLength` characters of JSON and 64 levels.
 */
export function problemOfInput(schema: unknown, maxLength: number): string | undefined {
  if (!isObject(schema)) return 'its input schema must be an object';
  const tooLarge = problemOfSize(schema, maxLength);
  if (tooLarge !== undefined || schema.type === 'object') return tooLarge;
  return `its input schema must have the type "object", got ${JSON.stringify(schema.type)}`;
}

/** Returns a problem if a schema is too long or nested too deeply, otherwise undefined. */
export function problemOfSize(schema: unknown, maxLength: number): string | undefined {
  if (isDeeper(schema, MAX_DEPTH)) return `its schema is refused: it is nested deeper than ${MAX_DEPTH} levels`;
  const { length } = JSON.stringify(schema) ?? '';
  if (length <= maxLength) return undefined;
  return `its schema has ${length} characters, more than ${maxLength}; raise \`limits.schemaLength\``;
}

/**
 * Returns the problem with the keywords or the references of an input schema, or undefined. Checks it on this thread, with
 * a limit of steps.
 */
export function problemOfContent(schema: JsonSchema): string | undefined {
  const { issues } = checkSchema(schema);
  if (issues !== undefined) return problemOfIssues(issues);
  try {
    return problemOfReference(lostReference(schema));
  } catch (error) {
    return `its input schema is invalid: ${describeError(error)}`;
  }
}

/**
 * Returns the same problem as `problemOfContent`, but checks the schema in the worker thread. Rejects with the reason
 * of the abort signal.
 */
export async function problemInWorker(schema: JsonSchema, signal: AbortSignal): Promise<string | undefined> {
  const value = JSON.stringify(schema);
  const outcome = await sharedWorker.check({ schema: META_TEXT, draft: '2020-12', value, isSchema: true, signal });
  if (outcome === undefined) return problemOfContent(schema);
  if ('problem' in outcome) return `its input schema is refused: ${outcome.problem}`;
  if ('fault' in outcome) return `its input schema is invalid: ${outcome.fault.message}`;
  return problemOfIssues(issuesOf(outcome.errors)) ?? problemOfReference(outcome.lost);
}

function problemOfIssues([issue]: readonly StandardIssue[]): string | undefined {
  if (issue === undefined) return undefined;
  const path = pathText((issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step)));
  return `its input schema is invalid at \`${path}\`: ${issue.message}`;
}

function problemOfReference(lost: string | undefined): string | undefined {
  if (lost === undefined) return undefined;
  return `its input schema has the \`$ref\` ${JSON.stringify(lost)}, which must refer to a schema inside it`;
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
    patternProperties: SCHEMA_MAP,
    dependencies: { type: 'object', additionalProperties: { anyOf: [SCHEMA, NAMES] } },
    dependentRequired: { type: 'object', additionalProperties: NAMES },
    type: { anyOf: [TYPE, TYPES] },
    enum: { type: 'array' },
    required: NAMES,
    pattern: STRING,
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    uniqueItems: { type: 'boolean' },
  },
};

const META_TEXT = JSON.stringify(META_SCHEMA);

const checkSchema = compileJsonSchema(META_SCHEMA);
