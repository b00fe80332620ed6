import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { describeError } from '../errors.js';
import { readJson } from '../internal/read-json.js';
import { readText } from '../process/files/file-bytes.js';
import { type FolderLock, type LockProblem, lockProblemText, withFileLock } from '../process/files/folder-lock.js';
import { realLocation } from '../process/files/location.js';
import { backUp } from '../process/files/write-atomic.js';
import { ExtensionPackageStateError } from './error.js';
import type { ExtensionPackage } from './extension.js';
import type { ManifestSettings } from './options.js';

/** Names are in lower case, because two extension names must not differ in case alone. */
const byName = z.record(z.string().lowercase(), z.boolean());

const choicesSchema = z.object({
  version: z.literal(1),
  /**
   * True if earlier choices were lost because the file was damaged. Extension packages without a choice then stay
   * disabled.
   */
  lost: z.boolean().optional(),
  user: byName,
  /** Choices by workspace path. */
  workspaces: z.record(z.string(), byName),
});

type Choices = z.infer<typeof choicesSchema>;

/** Far above any real size: one choice takes less than a hundred bytes. */
const MOST_BYTES = 16 * 1024 * 1024;

const NONE: Choices = { version: 1, user: {}, workspaces: {} };
const LOST: Choices = { ...NONE, lost: true };

/**
 * Stores which extension packages the user enabled or disabled, in a file that only the user can read. A choice takes
 * effect at once. Choices are stored in order, each as an atomic change that is safe with other processes. If the file
 * is damaged, every extension package is disabled until the user enables it again. The damaged file is copied before it
 * is overwritten.
 */
export class EnableChoices {
  readonly path: string;
  private stored: Choices = NONE;
  /** Choices that are not stored yet, or that failed to be stored. */
  private readonly chosen = new Map<string, boolean>();
  private storing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: Pick<ManifestSettings, 'userDir' | 'workspaceDir' | 'autoEnable'>) {
    this.path = join(settings.userDir, 'extensions-enabled.json');
  }

  /** True if earlier choices were lost with a damaged file. */
  get isLost(): boolean {
    return this.stored.lost === true;
  }

  /** True if the extension package is enabled, even if settings or approvals are missing. */
  isWanted({ name, scope }: ExtensionPackage): boolean {
    const stored = scope === 'user' ? this.stored.user : this.stored.workspaces[this.workspace];
    const choice = this.chosen.get(name) ?? stored?.[name.toLowerCase()];
    return choice ?? (this.settings.autoEnable && !this.isLost);
  }

  /**
   * Enables or disables an extension package. Rejects with an ExtensionPackageStateError if the choice cannot be
   * stored. In that case disabling still takes effect and enabling does not.
   */
  choose(extension: ExtensionPackage, isOn: boolean): Promise<void> {
    const { name } = extension;
    const before = this.chosen.get(name);
    this.chosen.set(name, isOn);
    const stored = this.storing.then(() => this.store(extension, isOn));
    const settle = (unsaved: boolean | undefined) => {
      if (this.chosen.get(name) !== isOn) return;
      if (unsaved === undefined) this.chosen.delete(name);
      else this.chosen.set(name, unsaved);
    };
    this.storing = stored.then(
      () => settle(undefined),
      () => settle(isOn ? before : isOn),
    );
    return stored;
  }

  /** Reads the stored choices, after pending choices are stored. Resolves with the problem of the file, if any. */
  load(): Promise<string | undefined> {
    const read = this.storing.then(async () => {
      const { choices, problem } = await this.read();
      this.stored = choices;
      return problem;
    });
    this.storing = read;
    return read;
  }

  async settled(): Promise<void> {
    await this.storing;
  }

  /** The real path, so that every link to a workspace shares its choices. */
  private get workspace(): string {
    return realLocation(this.settings.workspaceDir);
  }

  private async store({ name, scope }: ExtensionPackage, isOn: boolean): Promise<void> {
    const change = async (lock: Pick<FolderLock, 'replace'>) => {
      const { choices, problem } = await this.read();
      if (problem !== undefined) await backUp(this.path);
      const { user, workspaces } = structuredClone(choices);
      const choice = { [name.toLowerCase()]: isOn };
      if (scope === 'user') Object.assign(user, choice);
      else workspaces[this.workspace] = { ...workspaces[this.workspace], ...choice };
      const changed = { ...choices, user, workspaces };
      await lock.replace(this.path, `${JSON.stringify(changed, null, 2)}\n`);
      this.stored = changed;
    };
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await withFileLock(this.path, change, lockFailure);
    } catch (cause) {
      if (cause instanceof ExtensionPackageStateError) throw cause;
      throw new ExtensionPackageStateError(
        `${this.path} cannot be written: ${describeError(cause)}. Check its permissions and try again.`,
        { cause },
      );
    }
  }

  private async read(): Promise<{ choices: Choices; problem?: string }> {
    const file = await readText(this.path, MOST_BYTES);
    if ('problem' in file) {
      return file.isAbsent
        ? { choices: NONE }
        : { choices: LOST, problem: `${this.path} cannot be read: ${file.problem}` };
    }
    const read = readJson(file.text);
    const isWhole = 'value' in read && read.lost.length === 0;
    const { data: choices } = isWhole ? choicesSchema.safeParse(read.value) : {};
    if (choices !== undefined) return { choices };
    return { choices: LOST, problem: `${this.path} is damaged or has another version` };
  }
}

function lockFailure(folder: string, problem: LockProblem): Error {
  return new ExtensionPackageStateError(lockProblemText(folder, problem));
}
