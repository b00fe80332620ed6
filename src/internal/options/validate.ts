import { describeValue, OptionInvalidError } from '../../errors.js';
import { isObject } from '../json.js';
import { nearestName } from './nearest-name.js';

/** The rule for the value of one option. */
export interface OptionRule {
  /** Describes valid values, for the end of the sentence "`option` must be …". */
  readonly expected: string;
  /** Called for every value except undefined, which counts as a missing option. */
  readonly accepts: (value: unknown) => boolean;
  readonly isRequired?: boolean;
  /** Rules for the members of an object. */
  readonly members?: OptionRules;
  /** If true, the object may have members without a rule. */
  readonly isOpen?: boolean;
  /** Names of the option in other libraries. The error message for such a name suggests this option. */
  readonly aliases?: readonly string[];
  /** Rule for each item of an array, or for each value of an object. */
  readonly items?: OptionRule;
}

/** Rules by option name. */
export type OptionRules = Readonly<Record<string, OptionRule>>;

/**
 * The rules for all options of a type. The compiler demands a rule for each option, and a `required` rule for a
 * required one. See docs/decisions/0078-one-table-per-options-type.md.
 */
export type OptionTable<Options> = {
  readonly [Name in keyof Options]-?: undefined extends Options[Name]
    ? OptionRule
    : OptionRule & { readonly isRequired: true };
};

/** Throws an OptionInvalidError for the first unknown option name or invalid value. */
export function validateOptions(options: object, rules: OptionRules): void {
  const problem = optionProblem(options, rules);
  if (problem !== undefined) throw new OptionInvalidError(problem.option, problem.message);
}

/** Throws an OptionInvalidError unless the rule accepts the value. */
export function validateOption(option: string, value: unknown, rule: OptionRule): void {
  const problem = problemOf(value, rule);
  if (problem === undefined) return;
  const path = option + problem.at;
  throw new OptionInvalidError(path, problem.say(path));
}

/** Returns an error for an invalid option value. `expected` may end with advice. */
export function invalidOption(option: string, expected: string, value: unknown): OptionInvalidError {
  return new OptionInvalidError(option, mustBe(option, expected, value));
}

/** Returns the first problem of the options, or undefined. Allocates nothing if the options are valid. */
export function optionProblem(
  options: object,
  rules: OptionRules,
): { readonly option: string; readonly message: string } | undefined {
  if (!isObject(options)) return { option: 'options', message: mustBe('options', 'an object', options) };
  const problem = problemIn(options, rules);
  if (problem === undefined) return undefined;
  const option = problem.at.replace(/^\./, '');
  return { option, message: problem.say(option) };
}

/** Returns a message for each member whose value is invalid. */
export function memberProblems(values: object, rules: OptionRules): string[] {
  return Object.entries(rules).flatMap(([name, rule]) => {
    const problem = problemOf((values as Values)[name], rule);
    return problem === undefined ? [] : [problem.say(name + problem.at)];
  });
}

/** Returns the message for an unknown name. `kind` says what the name stands for, such as "option". */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const path = name.slice(name.lastIndexOf('.') + 1);
  const near = nearestName(path, known);
  const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean \`${near}\`?`;
  return `unknown ${kind} \`${name}\`; ${hint}`;
}

interface Problem {
  /** Path relative to the checked value, such as `.limit` or `[2]`. Empty if the value itself is invalid. */
  readonly at: string;
  /** Returns the message for the full path of the value. */
  readonly say: (path: string) => string;
}

function problemOf(value: unknown, rule: OptionRule): Problem | undefined {
  if (value === undefined ? rule.isRequired : !rule.accepts(value)) {
    return { at: '', say: (path) => mustBe(path, rule.expected, value) };
  }
  if (value === undefined) return undefined;
  if (rule.items !== undefined) return problemOfItems(value as Values, rule.items);
  return rule.members && Object(value) === value ? problemIn(value as Values, rule.members, rule.isOpen) : undefined;
}

type Values = Readonly<Record<string, unknown>>;

function problemIn(values: Values, members: OptionRules, isOpen = false): Problem | undefined {
  if (!isOpen) {
    for (const name in values) {
      if (Object.hasOwn(members, name) || !Object.hasOwn(values, name)) continue;
      return { at: `.${name}`, say: (path) => unknownOption(path, name, members) };
    }
  }
  for (const name in members) {
    const problem = problemOf(values[name], members[name] as OptionRule);
    if (problem !== undefined) return { ...problem, at: `.${name}${problem.at}` };
  }
  return undefined;
}

function unknownOption(path: string, name: string, members: OptionRules): string {
  for (const [member, rule] of Object.entries(members)) {
    if (rule.aliases?.includes(name)) return `unknown option \`${path}\`; use \`${member}\``;
    if (rule.members !== undefined && Object.hasOwn(rule.members, name))
      return `unknown option \`${path}\`; use \`${member}.${name}\``;
  }
  return unknownName('option', path, Object.keys(members));
}

function problemOfItems(values: Values, rule: OptionRule): Problem | undefined {
  const isArray = Array.isArray(values);
  for (const [name, item] of Object.entries(isArray ? [...values] : values)) {
    const problem = problemOf(item, rule);
    if (problem !== undefined) return { ...problem, at: (isArray ? `[${name}]` : `.${name}`) + problem.at };
  }
  return undefined;
}

function mustBe(path: string, expected: string, value: unknown): string {
  return `\`${path}\` must be ${expected}, got ${describeValue(value)}`;
}
