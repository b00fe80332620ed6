import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { ServerLog } from '../server-log.js';
import type { PausableClock } from '../transport/time-limits.js';

/** The result of a request as the server sent it, unchecked. */
export type McpAnswer = Readonly<Record<string, unknown>>;

/** The parameters of a request. */
export type McpParams = Readonly<Record<string, unknown>>;

/** The lists of a server. Each name is the field of the result that holds the entries. */
export type McpList = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** Options of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** Time limit in milliseconds that replaces the limits of the settings. */
  readonly limitMs?: number | undefined;
}

/** The server of a connection, and callbacks. */
export interface ConnectionOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: ServerLog;
  /** Pauses time limits while a user is asked. */
  readonly hold: PausableClock;
  /** Called when the connection has ended on its own. */
  readonly onEnd: (reason: string) => void;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged: () => void;
}
