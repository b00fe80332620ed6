import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { McpEvent } from '../server/event.js';
import type { ServerLog } from '../server/server-log.js';
import type { McpToolSpec } from '../tools/spec.js';
import type { PausableClock } from '../transport/time-limits.js';
import type { Endings } from './endings.js';

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

/**
 * One connection to a server, from the handshake to its end. A connection that has ended never reopens. A failed request
 * rejects with a typed error: a TimeoutExceededError after its time limit, or the reason of its abort signal. It rejects
 * with a McpSessionLostError if the server no longer knows the session and therefore did nothing.
 */
export interface Connection {
  readonly protocolVersion: string | undefined;
  readonly instructions: string | undefined;
  /** The reason why the connection ended on its own. Undefined while it is open and after `close`. */
  readonly ending: string | undefined;
  /** Sends a request such as `tools/call`. */
  request(method: string, params: McpParams, options: RequestOptions): Promise<McpAnswer>;
  /** Returns all entries of a list. Each page has the time limit of one request. A server without tools gives an empty list. */
  list(what: McpList, options: RequestOptions): Promise<readonly unknown[]>;
  /** Notifies the server that the roots have changed. */
  announceRoots(): Promise<void>;
  /** Pending requests fail at once. Resolves when the process or the streams of the connection have ended. */
  close(): Promise<void>;
}

/** Compares the tools of a list with those that were seen before. */
export interface ToolReview {
  /** Returns the names of the tools with a new change of their definition, and of those that must not be offered. */
  review(specs: Iterable<McpToolSpec>): Promise<{ changed: readonly string[]; refused: readonly string[] }>;
}

/** One server, and the objects that all its connections share. */
export interface ServerContext {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: ServerLog;
  readonly emit: (event: McpEvent) => void;
  /** Remembers the definitions of the tools. */
  readonly pins: ToolReview;
  /** Pauses time limits while a user is asked. */
  readonly hold: PausableClock;
  /** Tracks the cleanup of connections that have failed or were closed. */
  readonly endings: Endings;
}

/**
 * The step of a connection attempt. `installing`: a package runner such as `npx` was started, and may be installing the
 * server. `starting`: the server was started or contacted. `listing`: the server answered, and its tools are read.
 */
export type McpConnectStep = 'installing' | 'starting' | 'listing';

/** Options of one connection attempt. */
export interface ConnectionOptions extends ServerContext {
  /** Called when a step of the attempt begins. */
  readonly onStep: (step: McpConnectStep) => void;
  /** The program that the trust gate allowed. Undefined if the gate was not asked. */
  readonly trusted: TrustedLaunch | undefined;
  /** Aborts the attempt. A process that was started is ended at once. */
  readonly signal: AbortSignal;
  /** Called when the connection has ended on its own. */
  readonly onEnd: (connection: Connection, reason: string) => void;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged: () => void;
}
