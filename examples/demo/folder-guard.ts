import type { AgentLifecycle } from 'keelson';
import type { Folder } from './folder.js';

/** Denies every tool call whose path leads out of the folder. The tool does not run, and the model reads the reason. */
export class FolderGuard implements AgentLifecycle {
  readonly name = 'guard';
  /** If the guard fails, the call does not run. */
  readonly onFailure = 'block';
  private readonly folder: Folder;

  constructor(folder: Folder) {
    this.folder = folder;
  }

  readonly wrapToolCall: NonNullable<AgentLifecycle['wrapToolCall']> = async (call, next) => {
    const { path } = (call.input ?? {}) as { readonly path?: unknown };
    if (typeof path !== 'string' || (await this.folder.holds(path))) return next(call);
    return { content: `Denied by the guard: "${path}" is outside of the folder.`, isError: true };
  };
}
