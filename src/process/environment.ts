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

const isInherited = testOf(INHERITED_NAMES);
const isCredential = testOf(CREDENTIAL_NAMES);
const isOfCloud = testOf(CLOUD_NAMES);
const PROVIDER_SECRET = new RegExp(
  `^(?:${PROVIDER_NAMES.join('|')})_(?:\\w+_)?(?:${SECRET_WORDS.join('|')})(?:_\\w+)?$`,
);

/** Environment variables of a process, by name. */
export type Environment = Readonly<Record<string, string>>;

/** The variables from which the environment of a child process is built. */
export interface EnvironmentSource {
  /** The environment of this process. */
  readonly parent: NodeJS.ProcessEnv;
  /** Variables to add, for example of a hook. An added variable replaces an inherited one of the same name. */
  readonly additions?: Environment | undefined;
  /** Directories that no PATH entry of the child process may lie in, for example the workspace. */
  readonly exclude: readonly string[];
}

/** Returns the environment of a program of the workspace: the variables in `INHERITED_NAMES`, and `additions`. */
export function workspaceEnvironment(source: EnvironmentSource): Environment {
  return compose(source, isInherited);
}

/** Exceptions to the environment variables that a program of the user inherits. */
export interface InheritedVariables {
  /** Names of variables to inherit although they look like keys of model providers. `*` matches any characters. */
  readonly include?: readonly string[] | undefined;
  /** Names of variables not to inherit, even if `include` lists them. `*` matches any characters. */
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
 * model providers, and gets `additions`. With `inherit: true`, the program inherits the keys too.
 */
export function userEnvironment(source: EnvironmentSource, inherit: boolean | InheritedVariables = false): Environment {
  if (inherit === true) return compose(source, () => true);
  const { include = [], exclude = [] } = inherit || {};
  const [isIncluded, isExcluded] = [testOf(include), testOf(exclude)];
  return compose(source, (name) => {
    const isKey = isCredential(name) || PROVIDER_SECRET.test(fold(name));
    return (!isKey || isOfCloud(name) || isIncluded(name)) && !isExcluded(name);
  });
}

/** True if a variable such as `NODE_OPTIONS` can change which code a program runs. No configuration may set it. */
export const isRefusedName: (name: string) => boolean = testOf(REFUSED_NAMES);

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
    if (value !== undefined) env[name] = fold(name) === 'PATH' ? safePath(value, exclude) : value;
  };
  // Names are filtered before values are read: each read of `process.env` calls the system.
  for (const name of Object.getOwnPropertyNames(parent)) if (isKept(name)) add(name, parent[name]);
  for (const name of Object.keys(additions)) add(name, additions[name]);
  return Object.freeze(env);
}

/** Converts a name for comparisons without case, since some programs read a variable in either case. */
function fold(name: string): string {
  return name.toUpperCase();
}

/** Returns a test for names, without case. In a listed name, `*` matches any characters. */
function testOf(names: readonly string[]): (name: string) => boolean {
  const tests = names.map((name) => starTest(fold(name)));
  return (name) => tests.some((test) => test(fold(name)));
}

/** Returns the application name as a prefix of variable names: upper case, every other character replaced by `_`. */
export function variablePrefix(appName: string): string {
  return appName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
