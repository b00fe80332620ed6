// Checks values in a worker thread. Tests run this file as it is, and the build copies it, so it is JavaScript.
import { parentPort } from 'node:worker_threads';
import { dereference, validate } from '@cfworker/json-schema';

/** The main thread keeps 20 errors, after it has left out those that only repeat a nested error. */
const MAX_ERRORS = 200;
const MAX_LENGTH = 1_000;
const MAX_LOCATION = 10_000;

/** @type {string[]} */
let pieces = [];

parentPort?.on('message', (message) => {
  if (typeof message === 'string') {
    pieces.push(message);
    return;
  }
  const value = pieces.join('');
  pieces = [];
  parentPort?.postMessage(check(message, value));
});
// The time limit of the first check begins now.
parentPort?.postMessage('ready');

/**
 * @param {{ schema: string, draft: import('@cfworker/json-schema').SchemaDraft, isSchema?: boolean }} job
 * @param {string} text
 */
function check(job, text) {
  try {
    const value = JSON.parse(text);
    const schema = JSON.parse(job.schema);
    const lookup = dereference(schema);
    if (!job.isSchema) relax(lookup);
    const { errors } = validate(value, schema, job.draft, lookup);
    const lost = job.isSchema && errors.length === 0 ? lostReference(dereference(value)) : undefined;
    return { errors: errors.slice(0, MAX_ERRORS).map(shortened), lost };
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    return { fault: { name, message: message.slice(0, MAX_LENGTH) } };
  }
}

/** @typedef {Record<string, import('@cfworker/json-schema').Schema | boolean>} Lookup */

/**
 * As in `json-schema-check.ts`.
 *
 * @param {Lookup} lookup
 */
function relax(lookup) {
  for (const node of Object.values(lookup)) {
    if (typeof node !== 'object') continue;
    if (typeof node.format === 'string') delete node.format;
    removeInvalidPatterns(node);
    convertBound(node, 'minimum', 'exclusiveMinimum');
    convertBound(node, 'maximum', 'exclusiveMaximum');
    if (node.nullable !== true) continue;
    if (node.type !== undefined) node.type = [...[node.type].flat(), 'null'];
    if (node.enum !== undefined) node.enum = [...node.enum, null];
  }
}

/**
 * As in `json-schema-check.ts`.
 *
 * @param {import('@cfworker/json-schema').Schema} node
 */
function removeInvalidPatterns(node) {
  if (typeof node.pattern === 'string' && !isPattern(node.pattern)) delete node.pattern;
  const names = Object.keys(node.patternProperties ?? {});
  for (const name of names.filter((pattern) => !isPattern(pattern))) {
    delete node.patternProperties?.[name];
    node.additionalProperties = true;
  }
}

/**
 * As in `json-schema-check.ts`.
 *
 * @param {import('@cfworker/json-schema').Schema} node
 * @param {'minimum' | 'maximum'} bound
 * @param {'exclusiveMinimum' | 'exclusiveMaximum'} exclusive
 */
function convertBound(node, bound, exclusive) {
  const isExclusive = node[exclusive];
  if (typeof isExclusive !== 'boolean') return;
  delete node[exclusive];
  if (!isExclusive || node[bound] === undefined) return;
  node[exclusive] = node[bound];
  delete node[bound];
}

/** @param {string} text */
function isPattern(text) {
  try {
    return new RegExp(text, 'u') !== undefined;
  } catch {
    return false;
  }
}

/**
 * As in `json-schema-check.ts`.
 *
 * @param {Lookup} lookup
 */
function lostReference(lookup) {
  for (const node of Object.values(lookup)) {
    const { $ref, __absolute_ref__: uri = $ref } = typeof node === 'object' ? node : {};
    if (uri !== undefined && lookup[uri] === undefined) return $ref;
  }
  return undefined;
}

/** @param {import('@cfworker/json-schema').OutputUnit} unit */
function shortened({ keyword, error, instanceLocation }) {
  // A location that is cut could end inside a percent escape.
  const location = instanceLocation.length > MAX_LOCATION ? '#' : instanceLocation;
  return { keyword, error: error.slice(0, MAX_LENGTH), instanceLocation: location };
}
