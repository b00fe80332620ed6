import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../internal/json.js';
import { boolean, fullText, object, oneOf, required, texts } from '../internal/options/rules.js';
import { memberProblems, type OptionTable, unknownName } from '../internal/options/validate.js';
import type { PluginEntry } from './plugin.js';

const rules = {
  path: required(fullText),
  options: object,
  enabled: boolean,
  required: boolean,
  replace: boolean,
  format: oneOf('plugin', 'opencode'),
  files: texts,
} satisfies OptionTable<PluginEntry>;
const KEYS = Object.keys(rules);

/**
 * Lists the problems of an entry. Unknown keys are refused, because a misspelt `enabled: false` would load a plugin
 * that is meant to be off.
 */
export function problemsOfEntry(entry: unknown): string[] {
  if (!isObject(entry)) return ['an entry must be an object with a `path`'];
  const unknown = Object.keys(entry).filter((key) => !KEYS.includes(key));
  return [...unknown.map((key) => unknownName('key', key, KEYS)), ...memberProblems(entry, rules)];
}

/** Returns the path of an entry, which may be a path or a `file:` URL. */
export function pathOf({ path }: PluginEntry, folder: string): string {
  return path.startsWith('file:') && URL.canParse(path) && new URL(path).host === ''
    ? fileURLToPath(path)
    : resolve(folder, path);
}
