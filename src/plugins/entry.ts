import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginEntry } from './plugin.js';

const ENTRY_KEYS = ['path', 'options', 'enabled', 'required', 'replace', 'format', 'files'];

/** What is wrong with an entry. A misspelt `enabled: false` would load what somebody wanted off. */
export function problemsOfEntry(entry: unknown): string[] {
  if (typeof entry !== 'object' || entry === null) return ['it is no object with a `path`'];
  const { path, options, format, files, ...flags } = entry as Partial<Record<keyof PluginEntry, unknown>>;
  const problems = Object.keys(entry)
    .filter((key) => !ENTRY_KEYS.includes(key))
    .map((key) => `\`${key}\` is none of ${ENTRY_KEYS.join(', ')}`);
  if (typeof path !== 'string' || path === '') problems.push('`path` is no text');
  if (options !== undefined && (typeof options !== 'object' || options === null))
    problems.push('`options` is no object');
  for (const flag of ['enabled', 'required', 'replace'] as const) {
    if (![undefined, true, false].includes(flags[flag] as undefined))
      problems.push(`\`${flag}\` is neither true nor false`);
  }
  if (files !== undefined && !isStrings(files)) problems.push('`files` must be an array of strings');
  if (![undefined, 'plugin', 'opencode'].includes(format as undefined)) problems.push('`format` is not known');
  return problems;
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The file of an entry, which names it by a path or a `file:` URL. Throws where the URL names none. */
export function pathOf({ path }: PluginEntry, folder: string): string {
  return path.startsWith('file:') && URL.canParse(path) && new URL(path).host === ''
    ? fileURLToPath(path)
    : resolve(folder, path);
}
