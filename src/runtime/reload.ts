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

/** Returns an error for each problem in a server file, and for each server that is not connected. */
export function serverDiagnostics(
  problems: readonly string[],
  servers: readonly McpServerStatus[],
): readonly RuntimeDiagnostic[] {
  const failed = servers.flatMap(({ state, lastError }) => (state === 'connected' ? [] : (lastError ?? [])));
  return [...problems, ...failed].map((message) => ({ kind: 'servers', level: 'error', message }));
}
