import { MAX_TIMER_MS } from '../clock.js';
import { isObject } from '../json.js';
import type { OptionRule, OptionRules } from './validate.js';

export const anything: OptionRule = { expected: 'a value', accepts: () => true };
export const boolean: OptionRule = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
export const callable: OptionRule = { expected: 'a function', accepts: (value) => typeof value === 'function' };
export const text: OptionRule = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const fullText: OptionRule = {
  expected: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
};
export const array: OptionRule = { expected: 'an array', accepts: Array.isArray };
export const object: OptionRule = { expected: 'an object', accepts: isObject };
/** A time that a timer keeps. */
export const timerMs: OptionRule = numberRule(`milliseconds from 1 to ${MAX_TIMER_MS}`, 1, MAX_TIMER_MS);
export const texts: OptionRule = listOf(text);

/** A number within bounds, described by `expected`. */
export function numberRule(expected: string, least: number, most: number = Number.POSITIVE_INFINITY): OptionRule {
  return { expected, accepts: (value) => typeof value === 'number' && value >= least && value <= most };
}

/** A whole number of `least` or more. */
export function whole(least: number): OptionRule {
  return {
    expected: `a whole number of ${least} or more`,
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  };
}

/** One of some strings. */
export function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return { expected, accepts: (value) => values.includes(value as string) };
}

/** An array of which each item follows a rule. */
export function listOf(rule: OptionRule): OptionRule {
  return { ...array, items: required(rule) };
}

/** An object of which each value follows a rule, under any name. */
export function mapOf(rule: OptionRule): OptionRule {
  return { ...object, items: required(rule) };
}

/** Options inside of an option: other names are unknown. */
export function group(members: OptionRules): OptionRule {
  return { ...object, members };
}

/** Something that is called by these names. It may have others, and be a function or of a class. */
export function having(expected: string, members: OptionRules): OptionRule {
  const accepts = (value: unknown) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  return { expected, accepts, members, isOpen: true };
}

/** Something with these methods. */
export function withMethods(...names: readonly string[]): OptionRule {
  const members = Object.fromEntries(names.map((name) => [name, required(callable)]));
  return having(`an object with the method${names.length > 1 ? 's' : ''} ${names.join(', ')}`, members);
}

/** The same rule for an option that must be given. */
export function required(rule: OptionRule): OptionRule & { readonly isRequired: true } {
  return { ...rule, isRequired: true };
}

/** The same rule, with the names that other libraries have for the option. */
export function alsoCalled<Rule extends OptionRule>(rule: Rule, ...aliases: readonly string[]): Rule {
  return { ...rule, aliases };
}

export const logger: OptionRule = withMethods('debug', 'info', 'warn', 'error');
export const clock: OptionRule = withMethods('now', 'setTimeout', 'clearTimeout');
export const model: OptionRule = having('a model with `id` and `generate`', {
  id: required(text),
  generate: required(callable),
});
export const sessionStore: OptionRule = withMethods('load', 'save', 'delete');
