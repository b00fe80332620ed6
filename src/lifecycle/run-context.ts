import type { Clock } from '../internal/clock.js';
import type { Ids } from '../internal/ids.js';
import type { Logger } from '../internal/logger.js';
import type { Message } from '../model/message.js';
import type { Model, Usage } from '../model/model.js';
import type { Tool, ToolRun } from '../tools/tool.js';

/** A run, as hooks see it. All hooks of one run get the same object. */
export interface RunContext<Context = unknown> extends ToolRun<Context> {
  readonly model: Model;
  /** The system instructions, sent before the messages. */
  readonly instructions?: string | undefined;
  /** Aborted when the run is aborted, but not when a hook ends the run early. Created on first access. */
  readonly signal: AbortSignal;
  /** The working messages, without the instructions. The array changes during the run: copy it to keep it. */
  readonly messages: readonly Message[];
  /** Tokens used so far by all model calls of the run, retries included. */
  readonly usage: Usage;
  /** The tools of this turn, after `beforeToolSelection`. */
  readonly tools: readonly Tool[];
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
}
