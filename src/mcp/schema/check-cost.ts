import { isObject, type JsonSchema } from '../../internal/json.js';
import { patternCost } from './pattern-cost.js';
import { isWithin, StepCount } from './step-count.js';

/** Most steps of a check on the main thread. They take less than 50 ms, even before V8 has optimised the validator. */
const MOST_STEPS = 25_000;

type Fields = Readonly<Record<string, unknown>>;
/** Adds the steps of the keywords for one type of value. */
type Count<Value> = (schema: Fields, value: Value, at: Place) => void;

interface Place {
  readonly root: JsonSchema;
  readonly steps: StepCount;
  /** The number of schemas around this one. The validator copies each error once for each of them. */
  readonly depth: number;
}

/**
 * True if a check of the value takes less than 50 ms. Counts the steps of every keyword, as if each subschema failed. A
 * keyword with a value of a wrong type counts as expensive: the validator does not check the type, so the cost is unknown.
 * Expects a schema of which `isSmallSchema` is true.
 */
export function isCheapCheck(schema: JsonSchema, value: unknown, mostSteps = MOST_STEPS): boolean {
  return isWithin(() => countSteps(schema, value, { root: schema, steps: new StepCount(mostSteps) }));
}

/** Adds the cost of checking a value against a subschema to `steps`. Throws a RangeError above its limit. */
export function countSteps(part: unknown, value: unknown, { root, steps }: Omit<Place, 'depth'>): void {
  visit(part, value, { root, steps, depth: 1 });
}

function visit(schema: unknown, value: unknown, at: Place): void {
  at.steps.add(at.depth);
  if (!isObject(schema)) return;
  const inside = { ...at, depth: at.depth + 1 };
  countReference(schema, value, inside);
  countAnyType(schema, value, inside);
  if (typeof value === 'string') countString(schema, value, inside);
  else if (typeof value === 'number') countNumber(schema, value, inside);
  else if (Array.isArray(value)) countArray(schema, value, inside);
  else if (isObject(value)) countObject(schema, value, inside);
}

function countReference({ $ref, $recursiveRef }: Fields, value: unknown, at: Place): void {
  if ($recursiveRef !== undefined) at.steps.addUnknown();
  if ($ref !== undefined) visit(target($ref, at), value, at);
}

/** Follows a path from the root. Only the validator itself can resolve other references. */
function target(reference: unknown, { root, steps }: Place): unknown {
  const isPath = typeof reference === 'string' && reference.length <= 500 && /^#(?:\/[\w$-]+)*\/?$/.test(reference);
  if (!isPath) return steps.addUnknown();
  const names = reference.split('/').slice(1);
  steps.add(names.length);
  return names.reduce<unknown>((node, name) => (Object(node) as Fields)[name], root);
}

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['not', 'if', 'then', 'else'];
const TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const countAnyType: Count<unknown> = (schema, value, at) => {
  const { steps } = at;
  // The error message lists all types, so long ones take time.
  if (Array.isArray(schema.type)) for (const type of schema.type) TYPES.has(type) ? steps.add(1) : steps.addUnknown();
  if (schema.const !== undefined) steps.addSize(schema.const);
  if (schema.enum !== undefined) countEnum(listOf(schema.enum, steps), value, steps);
  for (const keyword of SAME_VALUE) if (schema[keyword] !== undefined) visit(schema[keyword], value, at);
  for (const keyword of COMBINATORS) {
    for (const branch of listOf(schema[keyword], steps)) {
      // The names of the properties that a branch evaluates are merged after the branch.
      if (typeof value === 'object' && value !== null) steps.add(Object.keys(value).length);
      visit(branch, value, at);
    }
  }
};

function countEnum(members: readonly unknown[], value: unknown, steps: StepCount): void {
  // All members are written to the error message.
  steps.addSize(members);
  // The validator lists the properties of the value again for each member.
  if (typeof value === 'object') steps.addSize(value, Math.max(1, members.length));
}

const countString: Count<string> = (schema, text, { steps }) => {
  if (hasBounds(schema, ['minLength', 'maxLength'], steps)) steps.add(text.length);
  if (schema.pattern !== undefined) steps.add(patternCost(schema.pattern, text));
};

const countNumber: Count<number> = (schema, _number, { steps }) => {
  hasBounds(schema, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], steps);
  // For `multipleOf`, the validator may divide integers of up to 600 digits.
  if (hasBounds(schema, ['multipleOf'], steps)) steps.add(10);
};

const ITEM_KEYWORDS = ['items', 'additionalItems', 'contains', 'unevaluatedItems'];

const countArray: Count<readonly unknown[]> = (schema, items, at) => {
  const { steps } = at;
  hasBounds(schema, ['minItems', 'maxItems', 'minContains', 'maxContains'], steps);
  for (const keyword of ITEM_KEYWORDS) {
    const member = schema[keyword];
    if (member !== undefined && !Array.isArray(member)) for (const item of items) visit(member, item, at);
  }
  for (const list of [schema.prefixItems, Array.isArray(schema.items) ? schema.items : undefined]) {
    for (const [index, member] of listOf(list, steps).entries()) visit(member, items[index], at);
  }
  if (!schema.uniqueItems) return;
  steps.add(items.length ** 2);
  // Each item may be compared with each other item.
  if (items.some((item) => typeof item === 'object')) steps.addSize(items, items.length);
};

const KEY_KEYWORDS = ['additionalProperties', 'unevaluatedProperties'];

const countObject: Count<Fields> = (schema, value, at) => {
  const { steps } = at;
  const keys = Object.keys(value);
  steps.add(keys.length);
  hasBounds(schema, ['minProperties', 'maxProperties'], steps);
  countNames(schema.required, at);
  countProperties(schema, value, at);
  countPatterns(schema, value, at);
  for (const keyword of KEY_KEYWORDS) {
    if (schema[keyword] !== undefined) for (const key of keys) visitNamed(schema[keyword], [key, value[key]], at);
  }
  if (schema.propertyNames === undefined) return;
  for (const key of keys) {
    steps.add(key.length);
    visit(schema.propertyNames, key, at);
  }
};

/** Each missing property is an error. */
function countNames(names: unknown, { steps, depth }: Place): void {
  for (const name of listOf(names, steps)) typeof name === 'string' ? steps.add(depth) : steps.addUnknown();
}

const countProperties: Count<Fields> = (schema, value, at) => {
  const { steps } = at;
  const properties = mapOf(schema.properties, steps);
  for (const name of Object.keys(properties)) {
    steps.add(1);
    if (Object.hasOwn(value, name)) visitNamed(properties[name], [name, value[name]], at);
  }
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const dependents = mapOf(schema[keyword], steps);
    for (const name of Object.keys(dependents)) {
      steps.add(1);
      if (!Object.hasOwn(value, name)) continue;
      const dependent = dependents[name];
      if (isObject(dependent) || typeof dependent === 'boolean') visitNamed(dependent, [name, value], at);
      else countNames(dependent, at);
    }
  }
};

const countPatterns: Count<Fields> = ({ patternProperties }, value, at) => {
  const patterns = mapOf(patternProperties, at.steps);
  for (const pattern of Object.keys(patterns)) {
    // The validator compiles each pattern again for each object.
    at.steps.add(10 + pattern.length);
    for (const key of Object.keys(value)) {
      at.steps.add(patternCost(pattern, key));
      visitNamed(patterns[pattern], [key, value[key]], at);
    }
  }
};

/** Visits the value of a property. The validator encodes the name for its messages. */
function visitNamed(schema: unknown, [name, value]: readonly [name: string, value: unknown], at: Place): void {
  at.steps.add(name.length);
  visit(schema, value, at);
}

/** True if the schema has one of these keywords. Their values must be numbers, or booleans in draft 4. */
function hasBounds(schema: Fields, keywords: readonly string[], steps: StepCount): boolean {
  let isBounded = false;
  for (const keyword of keywords) {
    const bound = schema[keyword];
    if (bound === undefined) continue;
    if (typeof bound !== 'number' && typeof bound !== 'boolean') steps.addUnknown();
    isBounded = true;
  }
  return isBounded;
}

const NONE: readonly unknown[] = [];
const EMPTY: Fields = {};

function listOf(member: unknown, steps: StepCount): readonly unknown[] {
  if (member === undefined) return NONE;
  return Array.isArray(member) ? member : steps.addUnknown();
}

function mapOf(member: unknown, steps: StepCount): Fields {
  if (member === undefined) return EMPTY;
  return isObject(member) ? member : steps.addUnknown();
}
