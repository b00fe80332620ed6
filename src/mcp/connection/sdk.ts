import type { AuthSdk } from '../transport/authorization.js';
import type { McpTransport } from '../transport/transport.js';
import type { AnswerServer } from './answer-server.js';
import type { ConnectionOptions, McpAnswer, McpParams } from './options.js';

/** A revision of the protocol that Keelson speaks. */
export type McpRevision = '2025-11-25' | '2026-07-28';

/** One SDK of the protocol. There is a folder for each beside this file. */
export interface Sdk {
  readonly revisions: readonly McpRevision[];
  createClient(transport: McpTransport, options: SdkClientOptions): SdkClient;
  /** Imports the OAuth client of the SDK. */
  loadAuth(): Promise<AuthSdk>;
}

/** Options of one client of an SDK. */
export interface SdkClientOptions {
  /** The revision to speak. `auto` asks the server first. */
  readonly revision: McpRevision | 'auto';
  readonly connection: ConnectionOptions;
  /** Handles the requests and the notifications of the server. */
  readonly server: AnswerServer;
  readonly onError: (error: unknown) => void;
  readonly onClose: () => void;
}

/** The client of one SDK for one transport. Its requests have no time limit. */
export interface SdkClient {
  /** False if the server declares that it has no tools. */
  readonly hasTools: boolean;
  readonly instructions: string | undefined;
  /** Starts the transport and completes the handshake. */
  connect(): Promise<void>;
  request(method: string, params: McpParams, options: SdkRequestOptions): Promise<McpAnswer>;
  /** Takes a complete list of tools. Returns the tools that can be called. */
  listed?(tools: readonly unknown[]): readonly unknown[];
  /** Checks if the server still responds. */
  ping(timeoutMs: number): Promise<unknown>;
  announceRoots(): Promise<void>;
}

/** Options of one request of a `SdkClient`. */
export interface SdkRequestOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}
