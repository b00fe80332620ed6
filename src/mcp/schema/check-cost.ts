import { isObject, type JsonSchema } from '../../internal/json.js';
import { formatCost, patternCost } from './pattern-cost.js';
import { isCompilable } from './schema-cost.js';
import { isWithin, StepCount } from './step-count.js';

/** Steps of a check on the main thread. They take less than 50 ms. */
const MOST_STEPS = 50_000;
/** Characters of the URIs of a schema that is compiled on the main thread. */
const MOST_URI_LENGTH = 500_000;

type Fields = Readonly<Record<string, unknown>>;
/** Adds the steps of the keywords for one type of value. */
type Count<Value> = (schema: Fields, value: Value, at: Place) => void;

interface Place {
  readonly root: JsonSchema;
  readonly steps: StepCount;
  /** The number of schemas around this one. The validator copies each error once for each of them. */
  readonly depth: number;
}

/** True if the schema is small enough to be compiled on the main thread. */
export function isSmallSchema(schema: JsonSchema): boolean {
  return isCompilable(schema, MOST_URI_LENGTH);
}

/**
 * True if a check of the value takes less than 50 ms. Counts the steps of every keyword, as if each subschema failed.
 * Expects a schema of which `isSmallSchema` is true.
 */
export function isCheapCheck(schema: JsonSchema, value: unknown): boolean {
  return isWithin(() => visit(schema, value, { root: schema, steps: new StepCount(MOST_STEPS), depth: 1 }));
}

function visit(schema: unknown, value: unknown, at: Place): void {
  at.steps.add(at.depth);
  if (!isObject(schema)) return;
  const inside = { ...at, depth: at.depth + 1 };
  countReference(schema, value, inside);
  countAnyType(schema, value, inside);
  if (typeof value === 'string') countString(schema, value, inside);
  else if (Array.isArray(value)) countArray(schema, value, inside);
  else if (isObject(value)) countObject(schema, value, inside);
}

function countReference({ $ref, $recursiveRef }: Fields, value: unknown, at: Place): void {
  // Only the validator itself can resolve other references, so their cost is unknown.
  if ($recursiveRef !== undefined) at.steps.add(Infinity);
  if (typeof $ref === 'string') visit(target($ref, at.root, at.steps), value, at);
}

function target(reference: string, root: JsonSchema, steps: StepCount): unknown {
  if (!/^#(?:\/[\w$-]+)*\/?$/.test(reference) || reference.length > 500) steps.add(Infinity);
  const names = reference.split('/').slice(1);
  steps.add(names.length);
  return names.reduce<unknown>((node, name) => (Object(node) as Fields)[name], root);
}

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['not', 'if', 'then', 'else'];

const countAnyType: Count<unknown> = (schema, value, at) => {
  const { steps } = at;
  if (Array.isArray(schema.type)) steps.add(schema.type.length);
  if (schema.const !== undefined) steps.addSize(schema.const);
  if (Array.isArray(schema.enum)) countEnum(schema.enum, value, steps);
  for (const keyword of SAME_VALUE) if (schema[keyword] !== undefined) visit(schema[keyword], value, at);
  for (const keyword of COMBINATORS) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) {
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
  if (schema.minLength !== undefined || schema.maxLength !== undefined) steps.add(text.length);
  if (schema.pattern !== undefined) steps.add(patternCost(schema.pattern, text));
  if (schema.format !== undefined) steps.add(formatCost(schema.format, text));
};

const ITEM_KEYWORDS = ['items', 'additionalItems', 'contains', 'unevaluatedItems'];

const countArray: Count<readonly unknown[]> = (schema, items, at) => {
  const { steps } = at;
  for (const keyword of ITEM_KEYWORDS) {
    const member = schema[keyword];
    if (member !== undefined && !Array.isArray(member)) for (const item of items) visit(member, item, at);
  }
  for (const list of [schema.prefixItems, schema.items]) {
    if (Array.isArray(list)) for (const [index, member] of list.entries()) visit(member, items[index], at);
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
  if (Array.isArray(schema.required)) steps.add(schema.required.length);
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

const countProperties: Count<Fields> = (schema, value, at) => {
  if (isObject(schema.properties)) {
    for (const name of Object.keys(schema.properties)) {
      at.steps.add(1);
      if (name in value) visitNamed(schema.properties[name], [name, value[name]], at);
    }
  }
  for (const dependents of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
    if (!isObject(dependents)) continue;
    for (const name of Object.keys(dependents)) {
      const dependent = dependents[name];
      at.steps.add(Array.isArray(dependent) ? 1 + dependent.length : 1);
      if (isObject(dependent)) visitNamed(dependent, [name, value], at);
    }
  }
};

const countPatterns: Count<Fields> = ({ patternProperties }, value, at) => {
  if (!isObject(patternProperties)) return;
  for (const pattern of Object.keys(patternProperties)) {
    for (const key of Object.keys(value)) {
      at.steps.add(patternCost(pattern, key));
      visitNamed(patternProperties[pattern], [key, value[key]], at);
    }
  }
};

/** Visits the value of a property. The validator encodes the name for its messages. */
function visitNamed(schema: unknown, [name, value]: readonly [name: string, value: unknown], at: Place): void {
  at.steps.add(name.length);
  visit(schema, value, at);
}
