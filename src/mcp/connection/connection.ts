import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { LogLimiter } from '../log-limiter.js';
import type { PausableClock } from '../transport/pausable-clock.js';
import type { Endings } from './endings.js';

/** An answer as it came, unchecked. */
export type McpAnswer = Readonly<Record<string, unknown>>;

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
  callTool(name: string, input: unknown, options: RequestOptions): Promise<McpAnswer>;
  /** All entries of a list, with each page in the time of one request. Tools are empty if the server offers none. */
  list(what: McpList, options: RequestOptions): Promise<readonly unknown[]>;
  readResource(uri: string, options: RequestOptions): Promise<McpAnswer>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: RequestOptions): Promise<McpAnswer>;
  /** Finds out if the server still answers. The connection ends if the server cannot be reached. */
  ping(timeoutMs: number): Promise<void>;
  announceRoots(): Promise<void>;
  /** Requests on their way fail at once. Resolves when nothing of the connection is left. */
  close(): Promise<void>;
}

/** What a connection tells the server that it belongs to. */
type ConnectionEvent =
  | { readonly type: 'end'; readonly connection: Connection; readonly reason: string }
  | { readonly type: 'tools-changed' };

/** The server that is connected to, and what the connection shares with the ones before and after it. */
export interface ConnectionOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  /** The program that the gate allowed. */
  readonly trusted: TrustedLaunch | undefined;
  readonly log: LogLimiter;
  /** Pauses time limits while a person is asked. */
  readonly hold: PausableClock;
  /** Keeps what is still ending after the outcome is known. */
  readonly endings: Endings;
  /** Ends the attempt. What was started goes away at once. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: ConnectionEvent) => void;
}
