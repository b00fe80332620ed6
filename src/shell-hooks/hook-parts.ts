import type { Logger } from '../internal/logger.js';
import type { HookRunner } from './hook-runner.js';
import type { RunNotebook } from './run-notes.js';
import type { SessionNotes } from './session-notes.js';

/** What the lifecycles of shell hooks share. */
export interface HookParts {
  readonly runner: HookRunner;
  /** What waits for a session's next request. */
  readonly notes: SessionNotes;
  readonly runs: RunNotebook;
  readonly logger: Logger;
  /** Aborted when the agent is closed. */
  readonly signal: AbortSignal;
}
