import { type Changes, joinChanges } from '../internal/changes.js';
import type { McpReload, McpServerStatus } from '../mcp/mcp.js';

/** What a reload changed, by names, and what somebody should know of it. */
export interface RuntimeReload {
  readonly extensions: Changes;
  /** The hooks of files and of extensions. */
  readonly hooks: Changes;
  /** Every server, by the name that it goes by. */
  readonly servers: Changes;
  /** The plugins of all agents. */
  readonly plugins: Changes;
  readonly diagnostics: readonly RuntimeDiagnostic[];
}

/** Something about one kind of item that somebody should know. */
export interface RuntimeDiagnostic {
  readonly kind: 'extensions' | 'hooks' | 'servers' | 'plugins';
  readonly level: 'error' | 'warning' | 'info';
  readonly message: string;
}

/** Work that is done once at a time. A call while it is going on has it done once more afterwards, for all such calls. */
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
      // The call that waits takes its place without a gap.
      if (this.next === undefined) this.current = undefined;
    });
    this.current = work;
    return work;
  }
}

/** The changes of the servers of files and of those of extensions. Both lists of unchanged servers may have one name. */
export function serverChanges(ofFiles: McpReload, ofExtensions: Changes): Changes {
  const known = new Set(Object.values(ofExtensions).flat());
  const unchanged = ofFiles.unchanged.filter((name) => !known.has(name));
  return joinChanges([{ ...ofFiles, unchanged }, ofExtensions]);
}

/** The changes of the plugins of several agents. */
export function pluginChanges(ofAgents: readonly Changes[]): Changes {
  const { added, removed, changed, unchanged } = joinChanges(ofAgents);
  const distinct = (names: readonly string[]) => [...new Set(names)];
  return {
    ...{ added: distinct(added), removed: distinct(removed) },
    ...{ changed: distinct(changed), unchanged: distinct(unchanged) },
  };
}

/** What is wrong with files of servers, and with servers that are not connected. */
export function serverDiagnostics(
  problems: readonly string[],
  servers: readonly McpServerStatus[],
): readonly RuntimeDiagnostic[] {
  const failed = servers.flatMap(({ state, lastError }) => (state === 'connected' ? [] : (lastError ?? [])));
  return [...problems, ...failed].map((message) => ({ kind: 'servers', level: 'error', message }));
}
