import { isObject } from '../internal/json.js';
import { texts } from '../internal/options/rules.js';
import type { OptionRule, OptionTable } from '../internal/options/validate.js';
import { starTest } from '../internal/star-pattern.js';
import {
  CLOUD_NAMES,
  CREDENTIAL_NAMES,
  INHERITED_NAMES,
  PROVIDER_NAMES,
  REFUSED_NAMES,
  SECRET_WORDS,
} from './environment-names.js';
import { safePath } from './executable.js';

type NameTest = (name: string) => boolean;

const INHERITED = patternOf(INHERITED_NAMES);
const CREDENTIAL = patternOf(CREDENTIAL_NAMES);
const REFUSED = patternOf(REFUSED_NAMES);
const PROVIDER_SECRET = new RegExp(
  `^(?:${PROVIDER_NAMES.join('|')})_(?:\\w+_)?(?:${SECRET_WORDS.join('|')})(?:_\\w+)?$`,
);
const CLOUD = patternOf(CLOUD_NAMES);

/** Environment variables of a process, by name. */
export type Environment = Readonly<Record<string, string>>;

/** Inputs for the environment of a child process. */
export interface EnvironmentSource {
  /** The environment of this process. */
  readonly parent: NodeJS.ProcessEnv;
  /** Variables to add, for example those that a hook declares. They win over inherited variables. */
  readonly additions?: Environment | undefined;
  /** Directories that no PATH entry of the child process may lie in, for example the workspace. */
  readonly exclude: readonly string[];
}

/**
 * Returns the environment of a program that the workspace configures: the variables in `INHERITED_NAMES`, and
 * `additions`.
 */
export function workspaceEnvironment(source: EnvironmentSource): Environment {
  return compose(source, (name) => INHERITED.test(name));
}

/** Exceptions to the environment variables that a program of the user inherits. */
export interface InheritedVariables {
  /** Names of variables to inherit although they look like keys of model providers. `*` matches any characters. */
  readonly include?: readonly string[] | undefined;
  /** Names of variables not to inherit. Wins over `include`. `*` matches any characters. */
  readonly exclude?: readonly string[] | undefined;
}

/** Validation rule of an `inheritEnv` option. */
export const inheritedVariables: OptionRule = {
  expected: 'a boolean, or an object with arrays of variable names in `include` and `exclude`',
  accepts: (value) => typeof value === 'boolean' || isObject(value),
  members: { include: texts, exclude: texts } satisfies OptionTable<InheritedVariables>,
};

/**
 * Returns the environment of a program that the user configures. The program inherits every variable except keys of
 * model providers, and gets `additions`. With `inherit: true`, it also inherits the keys.
 */
export function userEnvironment(source: EnvironmentSource, inherit: boolean | InheritedVariables = false): Environment {
  if (inherit === true) return compose(source, () => true);
  const { include = [], exclude = [] } = inherit || {};
  const [isIncluded, isExcluded] = [listOf(include), listOf(exclude)];
  return compose(source, (name) => {
    const isKey = CREDENTIAL.test(fold(name)) || PROVIDER_SECRET.test(fold(name));
    return (!isKey || CLOUD.test(fold(name)) || isIncluded(name)) && !isExcluded(name);
  });
}

/** True if the variable can make a process run different code, so that configuration must not set it. */
export function isRefusedName(name: string): boolean {
  return REFUSED.test(fold(name));
}

/** True if the operating system accepts the string as the name of a variable. */
export function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

function compose(
  { parent, additions = {}, exclude }: EnvironmentSource,
  isKept: (name: string) => boolean,
): Environment {
  // Without a prototype, so that a variable named `__proto__` is an entry.
  const env: Record<string, string> = Object.create(null);
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) env[name] = isPath(name) ? safePath(value, exclude) : value;
  };
  // Names are filtered before values are read: each read of `process.env` calls the system.
  for (const name of Object.getOwnPropertyNames(parent)) if (isKept(name)) add(name, parent[name]);
  for (const name of Object.keys(additions)) add(name, additions[name]);
  return Object.freeze(env);
}

function isPath(name: string): boolean {
  return name.length === 4 && fold(name) === 'PATH';
}

/** Compares names without case: Windows does so, and some Unix programs read a variable in either case. */
function fold(name: string): string {
  return name.toUpperCase();
}

/** Compiles a list of this library, in which `*` matches any characters. Ignores case. */
function patternOf(names: readonly string[]): RegExp {
  const sources = names.map((name) => name.replace(/[()]/g, '\\$&').replaceAll('*', '.*'));
  return new RegExp(`^(?:${sources.join('|')})$`, 'is');
}

/** Returns a test for names, without case. In a listed name, `*` matches any characters. */
function listOf(names: readonly string[]): NameTest {
  const tests = names.map((name) => starTest(fold(name)));
  return (name) => {
    const folded = fold(name);
    return tests.some((fits) => fits(folded));
  };
}

/** Returns the application name as a prefix of variable names: upper case, every other character replaced by `_`. */
export function variablePrefix(appName: string): string {
  return appName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
