import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { ServerLog } from '../server-log.js';
import type { PausableClock } from '../transport/time-limits.js';

export type McpAnswer = Readonly<Record<string, unknown>>;

export type McpParams = Readonly<Record<string, unknown>>;

/** The lists of a server. Each name is the field of the result that holds the entries. */
export type McpList = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  readonly limitMs?: number | undefined;
}

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

export interface SdkRequestOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}
