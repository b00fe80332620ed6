import type { Logger } from '../internal/logger.js';
import type { Approver } from './decision.js';
import type { TrustGate } from './gate.js';

/** Options that mean the same for every loader that has them. */
export interface LoaderOptions {
  /** The workspace directory. Items in it need an approval. Default: the current working directory. */
  readonly workspaceDir?: string | undefined;
  /** Used in the names of the application's directories, files and environment variables. Default `keelson`. */
  readonly appName?: string | undefined;
  /** Absolute path of the user's directory. Items in it need no approval. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /**
   * Asks the user to approve an item of the workspace. Without `approve` and `gate`, an item that was not approved before
   * is not used.
   */
  readonly approve?: Approver | undefined;
  /** A custom trust gate, used instead of a new gate with the other options about approvals. */
  readonly gate?: TrustGate | undefined;
  /** Environment variables. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Receives log messages. Default: the logger of the agent that has loaded the loader, else the console. */
  readonly logger?: Logger | undefined;
}
