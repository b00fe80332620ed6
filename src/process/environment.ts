import { CREDENTIAL_NAMES, INHERITED_NAMES, REFUSED_NAMES } from './environment-names.js';
import { safePath } from './executable.js';

const INHERITED = listOf(INHERITED_NAMES);
const REFUSED = listOf(REFUSED_NAMES);
const CREDENTIALS = listOf(CREDENTIAL_NAMES);

/** An environment as a process gets it. */
export type Environment = Readonly<Record<string, string>>;

/** From what the environment of a program is made. */
export interface EnvironmentSource {
  /** The environment of this process. */
  readonly parent: NodeJS.ProcessEnv;
  /** What the program gets in any case, such as declared settings; wins over what is inherited. */
  readonly additions?: Environment | undefined;
  /** Folders that the PATH of the program may not lead into, such as the workspace. */
  readonly exclude: readonly string[];
}

/** The environment of a program from the workspace: a short list of names, and what it was given. */
export function workspaceEnvironment(source: EnvironmentSource): Environment {
  return compose(source, (name) => isListed(name, INHERITED));
}

/** The environment of a program of the user's: everything but the credentials of model providers, and `withheld`. */
export function userEnvironment(source: EnvironmentSource, withheld: readonly string[] = []): Environment {
  const secret = withheld.length === 0 ? CREDENTIALS : listOf([...CREDENTIAL_NAMES, ...withheld]);
  return compose(source, (name) => !isListed(name, secret));
}

/** Whether a variable can make another program run than the one that was meant: no item may set it. */
export function isRefusedName(name: string): boolean {
  return isListed(name, REFUSED);
}

/** Whether a variable can have this name at all. */
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

/** Upper and lower case are the same: on Windows they are, and elsewhere some programs read either. */
function fold(name: string): string {
  return name.toUpperCase();
}

/** Upper-case names, and the starts of names that ended with a `*`. */
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

/** The name of an application as the start of names of variables. */
export function variablePrefix(appName: string): string {
  return appName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
