import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { ServerLog } from '../server-log.js';
import type { AuthSdk } from '../transport/authorization.js';
import type { PausableClock } from '../transport/time-limits.js';
import type { McpTransport } from '../transport/transport.js';

export type McpAnswer = Readonly<Record<string, unknown>>;

export type McpParams = Readonly<Record<string, unknown>>;

/** The lists of a server. Each name is the field of the result that holds the entries. */
export type McpList = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  readonly limitMs?: number | undefined;
}

/** The server of a connection, and callbacks. */
export interface ConnectionOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: ServerLog;
  readonly hold: PausableClock;
  readonly onEnd: (reason: string) => void;
  readonly onToolsChanged: () => void;
}

/** A revision of the protocol that Keelson speaks. */
export type McpRevision = '2025-11-25' | '2026-07-28';

/** One SDK of the protocol. There is a folder for each beside this file. */
export interface Sdk {
  readonly revisions: readonly McpRevision[];
  createClient(transport: McpTransport, options: SdkClientOptions): SdkClient;
  loadAuth(): Promise<AuthSdk>;
}

export interface SdkClientOptions {
  readonly revision: McpRevision | 'auto';
  readonly connection: ConnectionOptions;
  readonly server: ServerAnswers;
  readonly onError: (error: unknown) => void;
  readonly onClose: () => void;
}

/** Handles the requests and the notifications of a server. */
export interface ServerAnswers {
  notified(method: string, params?: McpParams): void;
  /** Rejects with an error for the server. */
  asked(method: string, params: McpParams | undefined, signal: AbortSignal): Promise<{ [name: string]: unknown }>;
}

/** The client of one SDK for one transport. Its requests have no time limit. */
export interface SdkClient {
  /** False if the server declares that it has no tools. */
  readonly hasTools: boolean;
  readonly instructions: string | undefined;
  connect(): Promise<void>;
  request(method: string, params: McpParams, options: SdkRequestOptions): Promise<McpAnswer>;
  /** Receives the complete list of tools. Returns the tools that can be called. */
  listed?(tools: readonly unknown[]): readonly unknown[];
  ping(timeoutMs: number): Promise<unknown>;
  announceRoots(): Promise<void>;
}

export interface SdkRequestOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}
