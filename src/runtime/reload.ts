import type { Changes } from '../internal/changes.js';
import type { McpServerStatus } from '../mcp/mcp.js';

/** Changes and diagnostics of a reload. Each change lists the names of items. */
export interface RuntimeReload {
  readonly extensions: Changes;
  /** Hooks of hook files and of extension packages. */
  readonly hooks: Changes;
  /** MCP servers, by the name that the agent uses for each. */
  readonly servers: Changes;
  /** Plugins of all agents. */
  readonly plugins: Changes;
  readonly diagnostics: readonly RuntimeDiagnostic[];
}

/** A problem or notice about one kind of item. */
export interface RuntimeDiagnostic {
  readonly kind: 'extensions' | 'hooks' | 'servers' | 'plugins';
  readonly level: 'error' | 'warning' | 'info';
  readonly message: string;
}

/** Runs one task at a time. All calls made while the task runs share one further run after it. */
export class JoinedWork<T> {
  private current: Promise<T> | undefined = undefined;
  private next: Promise<T> | undefined = undefined;

  constructor(private readonly work: () => Promise<T>) {}

  run(): Promise<T> {
    if (this.current === undefined) return this.start();
    this.next ??= this.current
      .catch(() => {})
      .then(() => {
        this.next = undefined;
        return this.start();
      });
    return this.next;
  }

  private start(): Promise<T> {
    const work = this.work().finally(() => {
      // If a call waits, `current` stays set until that call starts, so that no other call can start first.
      if (this.next === undefined) this.current = undefined;
    });
    this.current = work;
    return work;
  }
}

/** Returns an error for each problem in a server file, and for each server that is not connected. */
export function serverDiagnostics(
  problems: readonly string[],
  servers: readonly McpServerStatus[],
): readonly RuntimeDiagnostic[] {
  const failed = servers.flatMap(({ state, lastError }) => (state === 'connected' ? [] : (lastError ?? [])));
  return [...problems, ...failed].map((message) => ({ kind: 'servers', level: 'error', message }));
}
