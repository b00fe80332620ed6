import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { McpEvent } from '../event.js';
import type { ServerLog } from '../server-log.js';
import type { PausableClock } from '../transport/pausable-clock.js';
import type { Endings } from './endings.js';

/** An answer as it came, unchecked. */
export type McpAnswer = Readonly<Record<string, unknown>>;

/** The parameters of a request. */
export type McpParams = Readonly<Record<string, unknown>>;

/** The lists that a server has, by the field of the answer. */
export type McpList = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** How one request is made. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** In place of the time limits of the settings. */
  readonly limitMs?: number;
}

/**
 * One connection to a server, from the handshake to its end. It does not come back: a new one takes its place. Each request
 * rejects with a typed error: a TimeoutExceededError when its time is up, a McpSessionLostError when the server has
 * forgotten the session and nothing was done, and the reason of the signal when that fires.
 */
export interface Connection {
  readonly protocolVersion: string | undefined;
  readonly instructions: string | undefined;
  /** The reason why it has ended by itself. Undefined while it is open and after `close`. */
  readonly ending: string | undefined;
  /** Sends a request such as `tools/call`. */
  request(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer>;
  /** All entries of a list, with each page in the time of one request. Tools are empty if the server offers none. */
  list(what: McpList, options: RequestOptions): Promise<readonly unknown[]>;
  announceRoots(): Promise<void>;
  /** Requests on their way fail at once. Resolves when nothing of the connection is left. */
  close(): Promise<void>;
}

/** One server, and what all its connections share. */
export interface ServerContext {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: ServerLog;
  readonly emit: (event: McpEvent) => void;
  /** Stops time limits while a person is asked. */
  readonly hold: PausableClock;
  /** Keeps what is still ending after the outcome is known. */
  readonly endings: Endings;
}

/** How one connection is made. */
export interface ConnectionOptions extends ServerContext {
  /** The program that the gate allowed. */
  readonly trusted: TrustedLaunch | undefined;
  /** Ends the attempt. What was started goes away at once. */
  readonly signal: AbortSignal;
  /** The connection has ended by itself. */
  readonly onEnd: (connection: Connection, reason: string) => void;
  readonly onToolsChanged: () => void;
}
