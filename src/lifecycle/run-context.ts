import type { Clock } from '../internal/clock.js';
import type { Ids } from '../internal/ids.js';
import type { Logger } from '../internal/logger.js';
import type { Message } from '../model/message.js';
import type { Model, Usage } from '../model/model.js';
import type { Tool, ToolRun } from '../tools/tool.js';

/** A summary that takes the place of earlier messages in what the model reads. */
export interface Summary {
  /** The text. If it is empty, no message stands for it. */
  readonly text: string;
  /** The first message that the model still reads. It must not hold tool results. Default: none. */
  readonly from?: Message | undefined;
  /** Messages before `from` that the model still reads. Default: none. */
  readonly keep?: readonly Message[] | undefined;
  /** Messages with tool results, of which the model reads so many characters of each result. Default: none. */
  readonly shorten?: readonly { readonly message: Message; readonly chars: number }[] | undefined;
  /** The messages that `beforeModel` got, if earlier hooks may have changed them. Default: the messages of the run. */
  readonly messages?: readonly Message[] | undefined;
}

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
  /**
   * Puts a summary in the place of the messages before `from`, for the rest of the run. In a session it becomes an entry of
   * the record, so that later runs read it too. The messages must be those of `messages`. People still see what was said.
   */
  summarize(summary: Summary): void;
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
}
