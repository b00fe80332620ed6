import { isObject } from '../../internal/json.js';
import type { SettingValue } from '../../skills/skill.js';
import type { ExtensionPackage, SettingDefinition } from '../extension.js';
import { expectedOf, fitsSetting, valueOfText } from './type.js';

/**
 * Sources of setting values, in order: the environment variable, the stored value, the default. A blank variable of a
 * required setting does not replace a stored value.
 */
export interface SettingSources {
  readonly env: NodeJS.ProcessEnv;
  /** The values in the host configuration. */
  readonly stored: Readonly<Record<string, unknown>>;
  /** Prefix of the environment variables that pass settings to programs, such as `KEELSON`. */
  readonly prefix: string;
}

/** The current setting values of one extension package. */
export interface ResolvedSettings {
  readonly values: ReadonlyMap<string, SettingValue>;
  /** The same values as environment variables for the extension's programs. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of required settings without a value. */
  readonly missing: readonly string[];
  /** Problems with settings. Messages contain no values. */
  readonly problems: readonly SettingProblem[];
}

interface SettingProblem {
  readonly setting: string;
  readonly message: string;
}

export const NO_SETTINGS: ResolvedSettings = { values: new Map(), variables: {}, missing: [], problems: [] };

/**
 * Resolves and validates the value of each setting. An invalid value counts as missing, and no other source replaces
 * it.
 */
export function resolveSettings(
  extension: Pick<ExtensionPackage, 'settings'>,
  sources: SettingSources,
): ResolvedSettings {
  const { settings } = extension;
  const found = settings.map((setting) => ({ setting, ...find(setting, sources) }));
  const values = new Map(
    found.flatMap(({ setting, value }) => (value === undefined ? [] : [[setting.name, value] as const])),
  );
  const known = new Set(settings.map(({ name }) => name));
  const unknown = Object.keys(sources.stored).filter((name) => !known.has(name));
  const missing = settings.filter(({ name, required }) => required === true && !values.has(name));
  return {
    values,
    variables: variablesOf(settings, values, sources),
    missing: missing.map(({ name }) => name),
    problems: [
      ...found.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      ...unknown.map((setting) => ({ setting, message: 'the setting is unknown' })),
      ...missing.map(({ name, envVar }) => ({ setting: name, message: missingText(envVar) })),
    ],
  };
}

function missingText(envVar: string | undefined): string {
  const how = envVar === undefined ? '' : ` or set the environment variable ${envVar}`;
  return `it is required but has no value, so the extension is inactive. Set it in the configuration${how}.`;
}

function find(
  setting: SettingDefinition,
  { env, stored }: SettingSources,
): { value?: SettingValue; problem?: SettingProblem } {
  const { name, envVar } = setting;
  const text = envVar !== undefined && Object.hasOwn(env, envVar) ? env[envVar] : undefined;
  const value: unknown = Object.hasOwn(stored, name) ? stored[name] : undefined;
  // A blank variable often means that a launcher had no value to pass on.
  const isReplaced = text?.trim() === '' && setting.required === true && value !== undefined;
  if (text !== undefined && !isReplaced)
    return validated(setting, valueOfText(setting, text), `the variable ${envVar}`);
  if (value !== undefined)
    return validated(setting, fitsSetting(setting, value) ? value : undefined, 'its stored value');
  return setting.default === undefined ? {} : { value: setting.default };
}

/** The message omits the value, because it may be a secret that was stored under the wrong setting. */
function validated(setting: SettingDefinition, value: SettingValue | undefined, source: string) {
  if (value !== undefined) return { value };
  return { problem: { setting: setting.name, message: `${source} must be ${expectedOf(setting)}` } };
}

function variablesOf(
  settings: readonly SettingDefinition[],
  values: ReadonlyMap<string, SettingValue>,
  { prefix, env }: SettingSources,
): Readonly<Record<string, string>> {
  const entries = settings.flatMap(({ name, envVar }) => {
    const value = values.get(name);
    const variables = envVar === undefined ? [] : [envVar];
    if (value !== undefined) {
      return [settingVariable(name, prefix), ...variables].map((variable) => [variable, String(value)] as const);
    }
    // The user's programs inherit the environment, so a variable with an invalid value is set to an empty string.
    return variables.filter((variable) => Object.hasOwn(env, variable)).map((variable) => [variable, ''] as const);
  });
  // If two settings have the same variable name, the first setting wins.
  return Object.fromEntries(entries.reverse());
}

/**
 * Returns the environment variable that programs read a setting from: `apiToken` becomes `KEELSON_SETTING_API_TOKEN`.
 */
function settingVariable(name: string, prefix: string): string {
  const snake = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${prefix}_SETTING_${snake.toUpperCase()}`;
}

/**
 * Returns the host configuration with the setting values of every extension package in `extensions`, including
 * sensitive values.
 */
export function mergeConfiguration(
  host: Readonly<Record<string, unknown>>,
  resolved: ReadonlyMap<string, { readonly settings: ResolvedSettings }>,
): Readonly<Record<string, unknown>> {
  const merged = [...resolved].map(([name, { settings }]) => [name, Object.fromEntries(settings.values)] as const);
  return { ...host, extensions: { ...storedSettings(host), ...Object.fromEntries(merged) } };
}

function storedSettings(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isObject(config.extensions) ? config.extensions : {};
}

/** Returns the stored settings of one extension package. */
export function storedFor(config: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const all = storedSettings(config);
  const stored = Object.hasOwn(all, name) ? all[name] : undefined;
  return isObject(stored) ? stored : {};
}
