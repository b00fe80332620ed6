import { CREDENTIAL_NAMES, INHERITED_NAMES, REFUSED_NAMES } from './environment-names.js';
import { safePath } from './executable.js';

const INHERITED = compile(INHERITED_NAMES);
const REFUSED = compile(REFUSED_NAMES);
const CREDENTIALS = compile(CREDENTIAL_NAMES);

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
  return compose(source, (name) => matches(name, INHERITED));
}

/** The environment of a program of the user's: everything but the credentials of model providers, and `withheld`. */
export function userEnvironment(source: EnvironmentSource, withheld: readonly string[] = []): Environment {
  const secret = withheld.length === 0 ? CREDENTIALS : compile([...CREDENTIAL_NAMES, ...withheld]);
  return compose(source, (name) => !matches(name, secret));
}

/** Whether a variable can make another program run than the one that was meant: no item may set it. */
export function isRefusedName(name: string): boolean {
  return matches(name, REFUSED);
}

/** Whether a variable can have this name at all. */
export function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

function compose({ parent, additions = {}, exclude }: EnvironmentSource, isKept: (name: string) => boolean) {
  const kept = Object.entries(parent).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && isKept(name);
  });
  const environment = Object.fromEntries([...kept, ...Object.entries(additions)]);
  for (const name of Object.keys(environment)) {
    if (name.toUpperCase() === 'PATH') environment[name] = safePath(environment[name], exclude);
  }
  return environment;
}

/** Upper and lower case are the same: on Windows they are, and elsewhere some programs read either. */
function matches(name: string, pattern: RegExp): boolean {
  return pattern.test(name.toUpperCase());
}

function compile(names: readonly string[]): RegExp {
  const escaped = names.map((name) =>
    name
      .toUpperCase()
      .replace(/[^\w*]/g, '\\$&')
      .replace(/\*$/, '[^]*'),
  );
  return new RegExp(`^(?:${escaped.join('|')})$`);
}
