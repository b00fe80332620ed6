import { suspectNames } from '../internal/plain-data.js';
import { PluginInvalidError } from './error.js';
import type { Plugin } from './plugin.js';

const HOOKS = ['onInit', 'onShutdown', 'beforeMessage', 'afterResponse', 'beforeToolExecute', 'afterToolExecute'];

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
  const unknown = suspectNames(hooks, /^(on|before|after)[A-Z_]/).filter((key) => !HOOKS.includes(key));
  const wrong = HOOKS.filter((key) => members[key] !== undefined && typeof members[key] !== 'function');
  return [
    ...unknown.map((key) => `\`hooks.${key}\` is none of ${HOOKS.join(', ')}`),
    ...wrong.map((key) => `\`hooks.${key}\` is no function`),
  ];
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.trim() !== '' && name.length <= 128 && !/\p{Cc}/u.test(name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
