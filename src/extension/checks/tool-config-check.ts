import { isObject } from '../../internal/json.js';
import type { ToolConfig } from '../definition.js';

/** The names of the tools that a registry has heard of. */
export type KnownTools = ReadonlySet<string>;

const LISTS = { preferred_tools: 'preferredTools', avoided_tools: 'avoidedTools', tool_order: 'toolOrder' } as const;

/** What is wrong with an extension's tool guidance. */
export function toolConfigProblems(config: unknown, known: KnownTools): string[] {
  if (config === undefined) return [];
  if (!isObject(config)) return ['`toolConfig` is no object'];
  const { lazy } = config as ToolConfig;
  const problems = lazy === undefined || typeof lazy === 'boolean' ? [] : ['`toolConfig.lazy` is no boolean'];
  for (const [key, value] of Object.entries(config)) {
    const name = Object.hasOwn(LISTS, key) ? LISTS[key as keyof typeof LISTS] : key;
    if (name === 'lazy') continue;
    const isList = Object.values(LISTS).includes(name as never);
    if (!isList) problems.push(`\`toolConfig.${key}\` is no member of tool guidance`);
    else if (name !== key && Object.hasOwn(config, name)) problems.push(`\`toolConfig\` has both ${name} and ${key}`);
    else problems.push(...listProblems(`toolConfig.${key}`, value, lazy === true ? undefined : known));
  }
  return problems;
}

/** The same guidance under the names of TypeScript, copied. */
export function normaliseToolConfig(config: object): ToolConfig {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.freeze(
    Object.fromEntries(
      entries.map(([key, value]) => [
        LISTS[key as keyof typeof LISTS] ?? key,
        Array.isArray(value) ? Object.freeze([...value]) : value,
      ]),
    ),
  );
}

function listProblems(at: string, names: unknown, known: KnownTools | undefined): string[] {
  if (names === undefined) return [];
  if (!Array.isArray(names)) return [`\`${at}\` is no array of tool names`];
  if (names.some((name) => typeof name !== 'string' || name === ''))
    return [`\`${at}\` holds something that is no name`];
  const unknown = known === undefined ? [] : names.filter((name) => !known.has(name));
  return unknown.map(
    (name) => `\`${at}\` names the unknown tool "${name}"; name it in the registry's \`tools\`, or set \`lazy\``,
  );
}
