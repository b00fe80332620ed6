import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { type LockProblem, lockProblemText, withFileLock } from '../process/files/folder-lock.js';
import { writeAtomic } from '../process/files/write-atomic.js';
import { ExtensionPackageStateError } from './error.js';

/** The name of the file of choices in the user's folder. */
export const STATE_FILE = 'extensions-enabled.json';
const VERSION = 1;

/** Which extensions the user turned on or off: their own by name, those of a workspace by workspace and name. */
interface Choices {
  readonly user: ReadonlyMap<string, boolean>;
  readonly workspaces: ReadonlyMap<string, ReadonlyMap<string, boolean>>;
  /** Earlier choices were lost with a damaged file: what has no choice stays off. */
  readonly lost: boolean;
}

/** Where an extension belongs: the user, or the workspace at this path. */
export type ChoiceOwner = 'user' | { readonly workspace: string };

/**
 * The user's choices, in one file that only the user can read; each change is atomic, also beside other processes. Where
 * the file is damaged nobody knows what was turned off, so everything is until it is turned on again; the file is kept
 * as a copy before it is written over.
 */
export class EnableState {
  private choices: Choices = { user: new Map(), workspaces: new Map(), lost: false };

  constructor(readonly path: string) {}

  /** Reads the file. Resolves with what is wrong with it, if anything. */
  async load(): Promise<string | undefined> {
    const { choices, problem } = await this.read();
    this.choices = choices;
    return problem;
  }

  /** Whether no choice can be relied on but those made since. */
  get isLost(): boolean {
    return this.choices.lost;
  }

  /** What the user chose; names differ in more than their case. */
  choiceOf(owner: ChoiceOwner, name: string): boolean | undefined {
    return this.mapOf(this.choices, owner)?.get(name.toLowerCase());
  }

  /** Stores a choice. Rejects with an ExtensionPackageStateError where that fails. */
  async choose(owner: ChoiceOwner, name: string, enabled: boolean): Promise<void> {
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      const act = async () => {
        const { choices, problem } = await this.read();
        if (problem !== undefined) await copyFile(this.path, `${this.path}.${Date.now()}.backup`);
        const changed = withChoice(choices, { owner, name: name.toLowerCase(), enabled });
        await writeAtomic(this.path, format(changed));
        this.choices = changed;
      };
      await withFileLock(this.path, act, lockFailure);
    } catch (cause) {
      if (cause instanceof ExtensionPackageStateError) throw cause;
      throw new ExtensionPackageStateError(`${this.path} could not be written: ${describeError(cause)}`, { cause });
    }
  }

  private mapOf(choices: Choices, owner: ChoiceOwner): ReadonlyMap<string, boolean> | undefined {
    return owner === 'user' ? choices.user : choices.workspaces.get(owner.workspace);
  }

  private async read(): Promise<{ choices: Choices; problem?: string }> {
    try {
      const choices = parse(await readFile(this.path, 'utf8'));
      if (choices) return { choices };
      return { choices: LOST, problem: `${this.path} is damaged or of another version` };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { choices: { ...LOST, lost: false } };
      return { choices: LOST, problem: `${this.path} could not be read: ${describeError(error)}` };
    }
  }
}

function lockFailure(folder: string, problem: LockProblem): Error {
  return new ExtensionPackageStateError(lockProblemText(folder, problem));
}

const LOST: Choices = { user: new Map(), workspaces: new Map(), lost: true };

function withChoice(
  choices: Choices,
  { owner, name, enabled }: { owner: ChoiceOwner; name: string; enabled: boolean },
): Choices {
  if (owner === 'user') return { ...choices, user: new Map(choices.user).set(name, enabled) };
  const own = new Map(choices.workspaces.get(owner.workspace)).set(name, enabled);
  return { ...choices, workspaces: new Map(choices.workspaces).set(owner.workspace, own) };
}

function format({ user, workspaces, lost }: Choices): string {
  const file = {
    version: VERSION,
    ...(lost && { lost }),
    user: Object.fromEntries(user),
    workspaces: Object.fromEntries([...workspaces].map(([path, own]) => [path, Object.fromEntries(own)])),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function parse(text: string): Choices | undefined {
  const parsed = parseJson(text);
  if (!isObject(parsed) || parsed.version !== VERSION || !isObject(parsed.workspaces)) return undefined;
  const user = choicesIn(parsed.user);
  const workspaces = Object.entries(parsed.workspaces).map(([path, own]) => [path, choicesIn(own)] as const);
  if (user === undefined || workspaces.some(([, own]) => own === undefined)) return undefined;
  return { user, workspaces: new Map(workspaces as [string, Map<string, boolean>][]), lost: parsed.lost === true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function choicesIn(value: unknown): Map<string, boolean> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every(([, choice]) => typeof choice === 'boolean')
    ? new Map(entries as [string, boolean][])
    : undefined;
}
