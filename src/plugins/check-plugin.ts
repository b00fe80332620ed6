import { describeValue } from '../errors.js';
import { isObject } from '../internal/json.js';
import { misspeltHook, misspeltHooks } from '../internal/options/misspelt-hooks.js';
import { callable, listOf, object, required, text } from '../internal/options/rules.js';
import { memberProblems, type OptionRules, unknownName } from '../internal/options/validate.js';
import { isPlainObject } from '../internal/plain-data.js';
import { PluginInvalidError } from './error.js';
import type { Plugin } from './plugin.js';

/** The names of the hooks of a plugin. */
export const HOOKS = [
  'onInit',
  'onShutdown',
  'beforeMessage',
  'afterResponse',
  'beforeToolExecute',
  'afterToolExecute',
];

/** The hooks, and their names in other libraries. */
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
 * Makes a plugin of an object of a class that has the hooks as its methods. Every other value is returned as it is: the
 * check of plugins says what is wrong with it.
 */
export function pluginFromObject(value: unknown): unknown {
  if (!isObject(value) || isPlainObject(value) || value.hooks !== undefined) return value;
  const { name, version, description, tools } = value;
  const members = { name, version, description, tools, hooks: value };
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** Throws a PluginInvalidError with everything that is wrong with a plugin. */
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

/** A hook under a wrong name would be a gate that stands open. */
function problemsOfPlugin(value: unknown): string[] {
  if (!isObject(value)) return [`it must be a plugin, got ${describeValue(value)}`];
  const problems = memberProblems(value, rules);
  const stray = HOOKS.filter((hook) => hook in value);
  if (stray.length > 0) problems.push(`\`${stray.join('`, `')}\` must be in \`hooks\``);
  const { hooks } = value;
  if (!isObject(hooks)) return problems;
  const ofHooks = [...unknownHooks(hooks), ...memberProblems(hooks, hookRules)];
  return [...problems, ...ofHooks.map((problem) => problem.replace('`', '`hooks.'))];
}

/** An object of a class may have members of its own; in a literal, an unknown one is most likely a misspelt hook. */
function unknownHooks(hooks: object): string[] {
  if (!isPlainObject(hooks)) return misspeltHooks(hooks, HOOK_NAMES);
  return Object.keys(hooks)
    .filter((key) => !HOOKS.includes(key))
    .map((key) => misspeltHook(key, HOOK_NAMES) ?? unknownName('member', key, HOOKS));
}
