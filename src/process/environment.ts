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

function compose({ parent, additions = {}, exclude }: EnvironmentSource, isKept: (name: string) => boolean) {
  const texts: (string | undefined)[] = [];
  for (const name of Object.getOwnPropertyNames(parent)) {
    // What is withheld is not even read: each look at `process.env` asks the system.
    if (isKept(name)) texts.push(name, parent[name]);
  }
  for (const name of Object.keys(additions)) texts.push(name, additions[name]);
  const excluded = exclude.join('\0');
  if (last.excluded !== excluded || !isSame(texts, last.texts)) {
    last = { excluded, texts, environment: environmentOf(texts, exclude) };
  }
  return last.environment;
}

/** What was composed last, and of what: most often the next is the same. */
let last: { excluded: string; texts: readonly (string | undefined)[]; environment: Environment } = {
  excluded: '',
  texts: [],
  environment: Object.freeze({}),
};

function isSame(texts: readonly unknown[], others: readonly unknown[]): boolean {
  return texts.length === others.length && texts.every((text, index) => text === others[index]);
}

/** Of names, each with its value after it. */
function environmentOf(texts: readonly (string | undefined)[], exclude: readonly string[]): Environment {
  const entries: [string, string][] = [];
  for (let index = 0; index < texts.length; index += 2) {
    const [name = '', value] = [texts[index], texts[index + 1]];
    if (value !== undefined) entries.push([name, fold(name) === 'PATH' ? safePath(value, exclude) : value]);
  }
  // All at once: an object that grew by so many names would be slow to read.
  return Object.freeze(Object.fromEntries(entries));
}

/** Upper and lower case are the same: on Windows they are, and elsewhere some programs read either. */
function fold(name: string): string {
  return name.toUpperCase();
}

/** Names, some of which ended with a `*` for any rest. */
interface NameList {
  readonly whole: ReadonlySet<string>;
  readonly starts: readonly string[];
  /** What was found of names before: an environment has much the same ones each time. */
  readonly known: Map<string, boolean>;
}

const MANY_NAMES = 1_000;

function isListed(name: string, { whole, starts, known }: NameList): boolean {
  const before = known.get(name);
  if (before !== undefined) return before;
  const folded = fold(name);
  const listed = whole.has(folded) || starts.some((start) => folded.startsWith(start));
  if (known.size >= MANY_NAMES) known.clear();
  known.set(name, listed);
  return listed;
}

function listOf(names: readonly string[]): NameList {
  const folded = names.map(fold);
  return {
    whole: new Set(folded.filter((name) => !name.endsWith('*'))),
    starts: folded.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
    known: new Map(),
  };
}

/** The name of an application as the start of names of variables. */
export function variablePrefix(appName: string): string {
  return appName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
