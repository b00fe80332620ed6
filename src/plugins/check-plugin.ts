import { misspeltHook, misspeltHooks } from '../internal/options/misspelt-hooks.js';
import { unknownName } from '../internal/options/validate.js';
import { isPlainObject } from '../internal/plain-data.js';
import { PluginInvalidError } from './error.js';
import type { Plugin } from './plugin.js';

const HOOKS = ['onInit', 'onShutdown', 'beforeMessage', 'afterResponse', 'beforeToolExecute', 'afterToolExecute'];

/** What other libraries call the hooks. */
const NAMES = {
  hooks: HOOKS,
  foreign: [
    ['beforeToolExecute', /^((before|wrap)tool(call|use)?|ontool(call|use|start))$/],
    ['afterToolExecute', /^(aftertool(call|use)?|ontoolend)$/],
    ['beforeMessage', /^(before(agent|model|run)|on(agent|run)?start)$/],
    ['afterResponse', /^(after(agent|model|run)|on(agent|run)?end)$/],
  ],
} as const;

/** Throws PluginInvalidError where a value is no plugin. */
export function validatePlugin(value: unknown): asserts value is Plugin {
  const problems = problemsOfPlugin(value);
  if (problems.length > 0) throw new PluginInvalidError(problems);
}

/** A hook under a wrong name would be a gate that stands open. */
function problemsOfPlugin(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`it gives ${value === null ? 'null' : typeof value}, not a plugin`];
  }
  const { name, version, description, tools, hooks } = value as Partial<Record<keyof Plugin, unknown>>;
  const problems: string[] = [];
  if (!isName(name)) problems.push('`name` is no text of 1–128 characters without control characters');
  if (version !== undefined && typeof version !== 'string') problems.push('`version` is no text');
  if (description !== undefined && typeof description !== 'string') problems.push('`description` is no text');
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isObject)))
    problems.push('`tools` is no list of tools');
  const stray = HOOKS.filter((hook) => hook in value);
  if (stray.length > 0) problems.push(`\`${stray.join('`, `')}\` belongs into \`hooks\``);
  return hooks === undefined ? problems : [...problems, ...problemsOfHooks(hooks)];
}

function problemsOfHooks(hooks: unknown): string[] {
  if (!isObject(hooks)) return ['`hooks` is no object'];
  const members = hooks as Readonly<Record<string, unknown>>;
  const wrong = HOOKS.filter((key) => members[key] !== undefined && typeof members[key] !== 'function');
  return [
    ...unknownHooks(hooks).map((problem) => problem.replace('`', '`hooks.')),
    ...wrong.map((key) => `\`hooks.${key}\` is no function`),
  ];
}

/** A class may have members of its own; in a literal, an unknown one is most likely a misspelt hook. */
function unknownHooks(hooks: object): string[] {
  if (!isPlainObject(hooks)) return misspeltHooks(hooks, NAMES);
  return Object.keys(hooks)
    .filter((key) => !HOOKS.includes(key))
    .map((key) => misspeltHook(key, NAMES) ?? unknownName('member', key, HOOKS));
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.trim() !== '' && name.length <= 128 && !/\p{Cc}/u.test(name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
