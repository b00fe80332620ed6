import type { Logger } from '../../internal/logger.js';
import type { HookRunner } from '../run/runner.js';
import type { Transcripts } from '../transcript/transcripts.js';
import type { PendingMessages } from './pending-messages.js';
import type { RunStates } from './run-state.js';

/** The objects that the lifecycles of shell hooks share. */
export interface HookParts {
  readonly runner: HookRunner;
  /** Hook messages that wait for the next run of their session. */
  readonly pending: PendingMessages;
  readonly runs: RunStates;
  /** The notifications whose hooks have not ended. `agent.close()` waits for them. */
  readonly notices: Set<Promise<unknown>>;
  /** Undefined if hooks get no transcript. */
  readonly transcripts: Transcripts | undefined;
  /** Limit for the turns that hooks add to a run by refusing its answer. */
  readonly maxContinuations: number;
  readonly logger: Logger;
  /** Aborted when the agent is closed. */
  readonly signal: AbortSignal;
}
