import type { Clock } from '../internal/clock.js';
import type { Ids } from '../internal/ids.js';
import type { Logger } from '../internal/logger.js';
import type { Message } from '../model/message.js';
import type { Model, Usage } from '../model/model.js';
import type { Tool, ToolRun } from '../tools/tool.js';
import type { RejectAction, RespondAction } from './hook-action.js';

/** A session as hooks see it. */
export interface SessionInfo {
  readonly id: string;
  /** All messages of the session. Instructions are never among them. */
  readonly messages: readonly Message[];
}

/** One run, as every hook of it sees it: one object from `beforeAgent` to `afterAgent`. */
export interface RunContext<Context = unknown> extends ToolRun<Context> {
  /** Made when it is first read. */
  readonly id: string;
  /** The agent's name. */
  readonly agent: string;
  /** The model of this run. */
  readonly model: Model;
  /** What the model is told before the messages. */
  readonly instructions?: string | undefined;
  readonly session?: SessionInfo | undefined;
  /** What the caller gave as `context`. */
  readonly context: Context;
  /** The run that this one was started from. */
  readonly parent?: RunContext | undefined;
  /** Aborted when the run is; not when it ends early by a decision. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Model calls begun, 1 in the first turn; 0 before it. */
  readonly turn: number;
  /** The working messages, without the instructions. The list grows as the run goes on: copy it to keep it. */
  readonly messages: readonly Message[];
  /** Tokens so far, counted at the innermost model call. */
  readonly usage: Usage;
  /** The tools of this turn, after `beforeToolSelection`. */
  readonly tools: readonly Tool[];
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
  /**
   * Adds a user or system message, or an assistant message without calls. It joins after the results of this turn, and
   * before the first turn when called in `beforeAgent`; after a final answer it buys another turn, within `maxTurns`.
   * Throws RunEndedError once `afterAgent` has begun.
   */
  add(message: Message): void;
  /**
   * Ends the run early, from any hook. The first call counts. The signals of the calls that are running are aborted, and
   * each gets an error result, also the one that it comes from; the run ends at once where there are several or the run
   * has a signal or a time-out, else once that call has settled.
   * Throws RunEndedError once `afterAgent` has begun.
   */
  end(action: RejectAction | RespondAction): void;
}
