import type { Clock } from '../internal/clock.js';
import type { Ids } from '../internal/ids.js';
import type { Logger } from '../internal/logger.js';
import type { Message } from '../model/message.js';
import type { Model, Usage } from '../model/model.js';
import type { Tool, ToolRun } from '../tools/tool.js';

/** One run, as every hook of it sees it: one object from `beforeAgent` to `afterAgent`. */
export interface RunContext<Context = unknown> extends ToolRun<Context> {
  /** The model of this run. */
  readonly model: Model;
  /** What the model is told before the messages. */
  readonly instructions?: string | undefined;
  /** Aborted when the run is; not when it ends early by a decision. Made when it is first read. */
  readonly signal: AbortSignal;
  /** The working messages, without the instructions. The list grows as the run goes on: copy it to keep it. */
  readonly messages: readonly Message[];
  /** Tokens so far, counted at the innermost model call. */
  readonly usage: Usage;
  /** The tools of this turn, after `beforeToolSelection`. */
  readonly tools: readonly Tool[];
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
}
