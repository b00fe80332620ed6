import type { Clock } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import type { Spawn } from './process-group.js';

/** Options about the application that mean the same for every loader that has them. */
export interface AppOptions {
  /** The workspace directory. Items in it need an approval. Default: the current working directory. */
  readonly workspaceDir?: string | undefined;
  /** Used in the names of the application's directories, files and environment variables. Default `keelson`. */
  readonly appName?: string | undefined;
  /** Absolute path of the user's directory. Items in it need no approval. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /** Environment variables. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Receives log messages. Default: the logger of the agent that has loaded the loader, else the console. */
  readonly logger?: Logger | undefined;
}

/** Replacements for functions of the system, for tests and unusual hosts. */
export interface SystemOptions {
  readonly clock?: Clock | undefined;
  readonly spawn?: Spawn | undefined;
  /** Sends requests over HTTP. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}
