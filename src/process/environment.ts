import { CREDENTIAL_NAMES, INHERITED_NAMES, REFUSED_NAMES } from './environment-names.js';
import { safePath } from './executable.js';

const INHERITED = listOf(INHERITED_NAMES);
const REFUSED = listOf(REFUSED_NAMES);
const CREDENTIALS = listOf(CREDENTIAL_NAMES);

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
  return compose(source, (name) => isListed(name, INHERITED));
}

/**
 * Returns the environment of a program that the user configures.
 * Inherits every variable except API keys of model providers and the names in `withheld`; adds `additions`.
 */
export function userEnvironment(source: EnvironmentSource, withheld: readonly string[] = []): Environment {
  const secret = withheld.length === 0 ? CREDENTIALS : listOf([...CREDENTIAL_NAMES, ...withheld]);
  return compose(source, (name) => !isListed(name, secret));
}

/** True if the variable can make a process run different code, so that configuration must not set it. */
export function isRefusedName(name: string): boolean {
  return isListed(name, REFUSED);
}

/** True if the operating system accepts the string as the name of a variable. */
export function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

function compose(
  { parent, additions = {}, exclude }: EnvironmentSource,
  isKept: (name: string) => boolean,
): Environment {
  const env = new Map<string, string>();
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) env.set(name, fold(name) === 'PATH' ? safePath(value, exclude) : value);
  };
  // Names are filtered before values are read: each read of `process.env` calls the system.
  for (const name of Object.getOwnPropertyNames(parent)) if (isKept(name)) add(name, parent[name]);
  for (const name of Object.keys(additions)) add(name, additions[name]);
  return Object.freeze(Object.fromEntries(env));
}

/** Compares names without case: Windows does so, and some Unix programs read a variable in either case. */
function fold(name: string): string {
  return name.toUpperCase();
}

/** Variable names in upper case: full names, and prefixes that had a trailing `*`. */
interface NameList {
  readonly whole: ReadonlySet<string>;
  readonly starts: readonly string[];
}

function isListed(name: string, { whole, starts }: NameList): boolean {
  const folded = fold(name);
  return whole.has(folded) || starts.some((start) => folded.startsWith(start));
}

function listOf(names: readonly string[]): NameList {
  const folded = names.map(fold);
  return {
    whole: new Set(folded.filter((name) => !name.endsWith('*'))),
    starts: folded.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  };
}

/** Returns the application name as a prefix of variable names: upper case, every other character replaced by `_`. */
export function variablePrefix(appName: string): string {
  return appName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
