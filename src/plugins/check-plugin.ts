import { describeValue } from '../errors.js';
import { isObject } from '../internal/json.js';
import { unknownMembers } from '../internal/options/misspelt-hooks.js';
import { callable, listOf, object, required, text } from '../internal/options/rules.js';
import { memberProblems, type OptionRules } from '../internal/options/validate.js';
import { isPlainObject } from '../internal/plain-data.js';
import { PluginInvalidError } from './error.js';
import type { Plugin } from './plugin.js';

export const HOOKS = [
  'onInit',
  'onShutdown',
  'beforeMessage',
  'afterResponse',
  'beforeToolExecute',
  'afterToolExecute',
];

/**
 * The hook names of a plugin. `foreign` has patterns that recognise the names that other libraries use for these hooks.
 */
export const HOOK_NAMES = {
  hooks: HOOKS,
  foreign: [
    ['beforeToolExecute', /^((before|wrap)tool(call|use)?|ontool(call|use|start))$/],
    ['afterToolExecute', /^(aftertool(call|use)?|ontoolend)$/],
    ['beforeMessage', /^(before(agent|model|run)|on(agent|run)?start)$/],
    ['afterResponse', /^(after(agent|model|run)|on(agent|run)?end)$/],
  ],
} as const;

/**
 * Converts a class instance whose methods are hooks to a plugin with `hooks`. Returns any other value unchanged;
 * `validatePlugin` reports its problems.
 */
export function pluginFromObject(value: unknown): unknown {
  if (!isObject(value) || isPlainObject(value) || value.hooks !== undefined) return value;
  const { name, version, description, tools } = value;
  const members = { name, version, description, tools, hooks: value };
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** Throws a PluginInvalidError that lists every problem of a plugin. */
export function validatePlugin(value: unknown): asserts value is Plugin {
  const problems = problemsOfPlugin(value);
  if (problems.length > 0) throw new PluginInvalidError(problems);
}

const rules: OptionRules = {
  name: required({
    expected: 'a string of 1 to 128 characters without control characters',
    accepts: (name) => typeof name === 'string' && /^(?=.*\S)\P{Cc}{1,128}$/u.test(name),
  }),
  version: text,
  description: text,
  tools: listOf(object),
  hooks: object,
};
const hookRules: OptionRules = Object.fromEntries(HOOKS.map((hook) => [hook, callable]));

/** Unknown names are refused, because a guard under a misspelt hook name would never run. */
function problemsOfPlugin(value: unknown): string[] {
  if (!isObject(value)) return [`it must be an object with a \`name\`, got ${describeValue(value)}`];
  const problems = memberProblems(value, rules);
  const stray = HOOKS.filter((hook) => hook in value);
  if (stray.length > 0) problems.push(`\`${stray.join('`, `')}\` must be in \`hooks\``);
  const { hooks } = value;
  if (!isObject(hooks)) return problems;
  const ofHooks = [...unknownMembers(hooks, HOOK_NAMES, HOOKS), ...memberProblems(hooks, hookRules)];
  return [...problems, ...ofHooks.map((problem) => problem.replace('`', '`hooks.'))];
}
