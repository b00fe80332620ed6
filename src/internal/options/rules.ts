import { MAX_TIMER_MS } from '../clock.js';
import { isObject } from '../json.js';
import type { OptionRule, OptionRules } from './validate.js';

export const anything: OptionRule = { expected: 'a value', accepts: () => true };
export const boolean: OptionRule = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
export const callable: OptionRule = { expected: 'a function', accepts: (value) => typeof value === 'function' };
export const text: OptionRule = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const textOrCall: OptionRule = {
  expected: 'a string or a function',
  accepts: (value) => text.accepts(value) || callable.accepts(value),
};
export const fullText: OptionRule = {
  expected: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
};
export const array: OptionRule = { expected: 'an array', accepts: Array.isArray };
export const object: OptionRule = { expected: 'an object', accepts: isObject };
/** A delay that a timer supports. */
export const timerMs: OptionRule = numberRule(`milliseconds from 1 to ${MAX_TIMER_MS}`, 1, MAX_TIMER_MS);
export const texts: OptionRule = listOf(text);

/** Accepts a number from `least` to `most`. The message calls it `expected`. */
export function numberRule(expected: string, least: number, most: number = Number.POSITIVE_INFINITY): OptionRule {
  return { expected, accepts: (value) => typeof value === 'number' && value >= least && value <= most };
}

/** Accepts a whole number of at least `least`. */
export function whole(least: number): OptionRule {
  return {
    expected: `a whole number of ${least} or more`,
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  };
}

/** Accepts one of the listed strings. */
export function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return { expected, accepts: (value) => values.includes(value as string) };
}

/** Accepts an array whose items match the rule. */
export function listOf(rule: OptionRule): OptionRule {
  return { ...array, items: required(rule) };
}

/** Accepts an object whose values all match the rule, under any names. */
export function mapOf(rule: OptionRule): OptionRule {
  return { ...object, items: required(rule) };
}

/** Accepts an object with the listed options. Other names are an error. */
export function group(members: OptionRules): OptionRule {
  return { ...object, members };
}

/** Accepts any object, class instance or function that has the listed members. Other members are allowed. */
export function having(expected: string, members: OptionRules): OptionRule {
  const accepts = (value: unknown) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  return { expected, accepts, members, isOpen: true };
}

/** Accepts an object that has the listed methods. */
export function withMethods(...names: readonly string[]): OptionRule {
  const members = Object.fromEntries(names.map((name) => [name, required(callable)]));
  return having(`an object with the method${names.length > 1 ? 's' : ''} ${names.join(', ')}`, members);
}

/** Returns the rule for an option that must be present. */
export function required(rule: OptionRule): OptionRule & { readonly isRequired: true } {
  return { ...rule, isRequired: true };
}

/** Returns the rule with names that other libraries use for the option. The error message suggests the right name. */
export function alsoCalled<Rule extends OptionRule>(rule: Rule, ...aliases: readonly string[]): Rule {
  return { ...rule, aliases };
}

export const logger: OptionRule = withMethods('debug', 'info', 'warn', 'error');
export const clock: OptionRule = withMethods('now', 'setTimeout', 'clearTimeout');
export const model: OptionRule = having('a model with `id` and `generate`', {
  id: required(text),
  generate: required(callable),
});
export const runLog: OptionRule = withMethods('append', 'read', 'touch', 'close', 'delete');
export const sessionStore: OptionRule = withMethods(
  'claim',
  'append',
  'renew',
  'post',
  'load',
  'list',
  'update',
  'delete',
);
