import { describeValue } from '../../../errors.js';

/** The form in which a keyword contains schemas: one schema, an array of schemas, or an object of schemas by name. */
export type Form = 'schema' | 'list' | 'map';

const SCHEMAS =
  'not if then else contains propertyNames additionalProperties unevaluatedProperties unevaluatedItems items contentSchema';
const LISTS = 'allOf anyOf oneOf prefixItems';
const MAPS = 'properties patternProperties $defs definitions dependentSchemas dependencies';
const forms = new Map([...each<Form>(SCHEMAS, 'schema'), ...each<Form>(LISTS, 'list'), ...each<Form>(MAPS, 'map')]);

/** Returns the form in which a keyword contains schemas. Returns undefined for any other keyword. */
export function formOf(keyword: string): Form | undefined {
  return forms.get(keyword);
}

/** The rule of draft 2020-12 for the value of a keyword that contains no schemas. */
interface ValueRule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Returns a valid value with the same meaning, or undefined if this is not possible. */
  readonly repair?: ((value: unknown) => unknown) | undefined;
  /** True if the keyword is only an annotation, so that an invalid value can be dropped. */
  readonly annotates?: true;
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const STRING: ValueRule = { expected: 'a string', accepts: isString };
const FLAG: ValueRule = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
const NUMBER: ValueRule = { expected: 'a number', accepts: (value) => typeof value === 'number' };
const COUNT: ValueRule = {
  expected: 'a whole number of 0 or more',
  accepts: (value) => Number.isInteger(value) && Number(value) >= 0,
};
const ARRAY: ValueRule = { expected: 'an array', accepts: Array.isArray };
const NAMES: ValueRule = {
  expected: 'an array of strings',
  accepts: (value) => isArrayOf(value, isString) && isUnique(value),
  repair: (value) => (isArrayOf(value, isString) ? unique(value) : undefined),
};

const rules = new Map<string, ValueRule>([
  ...each('title $comment format contentEncoding contentMediaType $schema', note(STRING)),
  ...each('deprecated readOnly writeOnly', note(FLAG)),
  ['description', note(STRING, (value) => (isArrayOf(value, isString) ? value.join('\n') : undefined))],
  ['examples', note(ARRAY, (value) => (value === null ? undefined : [value]))],
  ['$vocabulary', note({ expected: 'an object', accepts: isMapOfFlags })],
  ...each('$ref $dynamicRef $recursiveRef pattern', STRING),
  ...each('minimum maximum exclusiveMinimum exclusiveMaximum', NUMBER),
  ...each('minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties', COUNT),
  ['multipleOf', { expected: 'a number above 0', accepts: (value) => typeof value === 'number' && value > 0 }],
  ['uniqueItems', FLAG],
  ['required', NAMES],
  ['enum', { ...ARRAY, accepts: isUnique, repair: (value) => (Array.isArray(value) ? unique(value) : undefined) }],
  [
    'type',
    {
      expected: `${TYPES.join(', ')}, or an array of these`,
      accepts: (value) => isType(value) || (isArrayOf(value, isType) && value.length > 0 && isUnique(value)),
      repair: (value) => (isArrayOf(value, isType) && value.length > 0 ? unique(value) : undefined),
    },
  ],
]);

/**
 * Says why the value of a keyword is invalid. Used for a keyword that cannot be dropped, because the schema would then
 * mean something else.
 */
export interface ValueProblem {
  readonly problem: string;
}

/**
 * Returns a valid value for the keyword, or the problem with the given value. The valid value is undefined if an
 * annotation must be dropped.
 */
export function validValue(keyword: string, value: unknown): { readonly value: unknown } | ValueProblem {
  const rule = rules.get(keyword);
  return rule === undefined ? { value } : validBy(rule, value);
}

/** Returns an array of strings without duplicates, or the problem with the given value. */
export function validNames(value: unknown): { readonly value: unknown } | ValueProblem {
  return validBy(NAMES, value);
}

function validBy(rule: ValueRule, value: unknown): { readonly value: unknown } | ValueProblem {
  // A member that is undefined is not sent.
  if (value === undefined || rule.accepts(value)) return { value };
  const repaired = rule.repair?.(value);
  if (repaired !== undefined || rule.annotates) return { value: repaired };
  return { problem: `must be ${rule.expected}, got ${describeValue(value)}` };
}

function note(rule: ValueRule, repair = rule.repair): ValueRule {
  return { ...rule, annotates: true, repair };
}

function each<Value>(keywords: string, value: Value): [string, Value][] {
  return keywords.split(' ').map((keyword) => [keyword, value]);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isType(value: unknown): value is string {
  return isString(value) && TYPES.includes(value);
}

function isArrayOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] {
  return Array.isArray(value) && value.every(isItem);
}

function isMapOfFlags(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isFlag);
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isUnique(value: unknown): boolean {
  return Array.isArray(value) && new Set(value.map((item) => JSON.stringify(item))).size === value.length;
}

function unique(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
