import { join } from 'node:path';
import { realLocation } from '../process/files/location.js';
import { type ChoiceOwner, EnableState, STATE_FILE } from './enable-state.js';
import type { ExtensionPackage } from './extension.js';
import type { ManifestSettings } from './options.js';

/** Which extensions are on. A choice counts at once and is stored behind those before it. */
export class EnableChoices {
  private readonly state: EnableState;
  /** Choices that are not stored yet, or could not be. */
  private readonly chosen = new Map<string, boolean>();
  private storing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: Pick<ManifestSettings, 'userDir' | 'workspaceDir' | 'autoEnable'>) {
    this.state = new EnableState(join(settings.userDir, STATE_FILE));
  }

  /** The file of the choices. */
  get path(): string {
    return this.state.path;
  }

  /** Whether earlier choices were lost with a damaged file. */
  get isLost(): boolean {
    return this.state.isLost;
  }

  /** Whether an extension is on, whatever else it may lack. */
  isWanted(extension: ExtensionPackage): boolean {
    const { name } = extension;
    const choice = this.chosen.get(name) ?? this.state.choiceOf(this.ownerOf(extension), name);
    return choice ?? (this.settings.autoEnable && !this.state.isLost);
  }

  /** Turns an extension on or off. A choice that cannot be stored holds only if it turned the extension off. */
  choose(extension: ExtensionPackage, isOn: boolean): Promise<void> {
    const { name } = extension;
    const before = this.chosen.get(name);
    this.chosen.set(name, isOn);
    const stored = this.storing.then(() => this.state.choose(this.ownerOf(extension), name, isOn));
    const settle = (kept: boolean | undefined) => {
      if (this.chosen.get(name) !== isOn) return;
      if (kept === undefined) this.chosen.delete(name);
      else this.chosen.set(name, kept);
    };
    this.storing = stored.then(
      () => settle(undefined),
      () => settle(isOn ? before : isOn),
    );
    return stored;
  }

  /** Reads the choices, behind those that are being stored. Resolves with what is wrong with their file, if anything. */
  load(): Promise<string | undefined> {
    const read = this.storing.then(() => this.state.load());
    this.storing = read;
    return read;
  }

  /** Resolves when every choice is stored or has failed. */
  async settled(): Promise<void> {
    await this.storing;
  }

  /** By whatever link one comes to a workspace, it is the same. */
  private ownerOf({ scope }: ExtensionPackage): ChoiceOwner {
    return scope === 'user' ? 'user' : { workspace: realLocation(this.settings.workspaceDir) };
  }
}
