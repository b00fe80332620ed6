import type { AgentLifecycle } from 'keelson';
import type { Folder } from './folder.js';

/** Denies every call whose path leads out of the folder: the tool is not even asked, and the model reads why. */
export class FolderGuard implements AgentLifecycle {
  readonly name = 'guard';
  /** A guard that breaks must not let the call through. */
  readonly onFailure = 'block';
  readonly denied: string[] = [];
  /** How many calls it looked at. */
  checked = 0;
  private readonly folder: Folder;

  constructor(folder: Folder) {
    this.folder = folder;
  }

  readonly wrapToolCall: NonNullable<AgentLifecycle['wrapToolCall']> = async (call, next) => {
    this.checked += 1;
    const { path } = (call.input ?? {}) as { readonly path?: unknown };
    if (typeof path !== 'string' || (await this.folder.holds(path))) return next(call);
    this.denied.push(`${call.name} ${path}`);
    return { content: `Denied by the guard: "${path}" lies outside of the folder.`, isError: true };
  };
}
