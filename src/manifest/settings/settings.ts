import { isObject } from '../../internal/json.js';
import type { SettingValue } from '../../skills/skill.js';
import type { ExtensionPackage, SettingDefinition } from '../extension.js';
import { expectedOf, fitsSetting, valueOfText } from './type.js';

/** From where values come: the variable first, then what is stored, then the default. */
export interface SettingSources {
  readonly env: NodeJS.ProcessEnv;
  /** What the host's configuration has for the extension. */
  readonly stored: Readonly<Record<string, unknown>>;
  /** Begins the names of the variables that values are handed on in, such as `KEELSON`. */
  readonly prefix: string;
}

/** What the settings of one extension are now. */
export interface ResolvedSettings {
  readonly values: ReadonlyMap<string, SettingValue>;
  /** The same as variables for the programs of the extension. */
  readonly variables: Readonly<Record<string, string>>;
  /** Required ones without a value, by name. */
  readonly missing: readonly string[];
  /** What could not be used; no value is shown. */
  readonly problems: readonly SettingProblem[];
}

/** A value, or a setting, that cannot be used. */
interface SettingProblem {
  readonly setting: string;
  readonly message: string;
}

export const NO_SETTINGS: ResolvedSettings = { values: new Map(), variables: {}, missing: [], problems: [] };

/** Finds and checks the value of each setting. One that is wrong counts as none: nothing else stands in for it. */
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
  return {
    values,
    variables: variablesOf(settings, values, sources),
    missing: settings.filter(({ name, required }) => required === true && !values.has(name)).map(({ name }) => name),
    problems: [
      ...found.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      ...unknown.map((setting) => ({ setting, message: 'there is no such setting' })),
    ],
  };
}

function find(
  setting: SettingDefinition,
  { env, stored }: SettingSources,
): { value?: SettingValue; problem?: SettingProblem } {
  const { name, envVar } = setting;
  const text = envVar !== undefined && Object.hasOwn(env, envVar) ? env[envVar] : undefined;
  if (text !== undefined) return checked(setting, valueOfText(setting, text), `the variable ${envVar}`);
  const value: unknown = Object.hasOwn(stored, name) ? stored[name] : undefined;
  if (value !== undefined) return checked(setting, fitsSetting(setting, value) ? value : undefined, 'its stored value');
  return setting.default === undefined ? {} : { value: setting.default };
}

/** The message does not say what the value is: it may be a secret in the wrong place. */
function checked(setting: SettingDefinition, value: SettingValue | undefined, source: string) {
  if (value !== undefined) return { value };
  return { problem: { setting: setting.name, message: `${source} is no ${expectedOf(setting)}` } };
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
    // A program of the user's inherits the environment: a variable that is wrong is emptied.
    return variables.filter((variable) => Object.hasOwn(env, variable)).map((variable) => [variable, ''] as const);
  });
  // Of two names that come out alike, the first keeps the variable.
  return Object.fromEntries(entries.reverse());
}

/** The variable that programs find a setting in: `apiToken` is `KEELSON_SETTING_API_TOKEN`. */
function settingVariable(name: string, prefix: string): string {
  const snake = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${prefix}_SETTING_${snake.toUpperCase()}`;
}

/** The host's configuration with the values of every extension in `extensions`, sensitive ones included. */
export function mergeConfiguration(
  host: Readonly<Record<string, unknown>>,
  resolved: ReadonlyMap<string, { readonly settings: ResolvedSettings }>,
): Readonly<Record<string, unknown>> {
  const own = storedSettings(host);
  const merged = [...resolved].map(([name, { settings }]) => [name, Object.fromEntries(settings.values)] as const);
  const others = Object.entries(own).filter(([name]) => !resolved.has(name));
  return { ...host, extensions: Object.fromEntries([...others, ...merged]) };
}

/** What a configuration has for extensions: `extensions.<name>.<setting>`. */
function storedSettings(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isObject(config.extensions) ? config.extensions : {};
}

/** What a configuration has for one extension. */
export function storedFor(config: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const all = storedSettings(config);
  const stored = Object.hasOwn(all, name) ? all[name] : undefined;
  return isObject(stored) ? stored : {};
}
