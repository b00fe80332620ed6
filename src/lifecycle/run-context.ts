import type { Clock } from '../internal/clock.js';
import type { Ids } from '../internal/ids.js';
import type { Logger } from '../internal/logger.js';
import type { Message } from '../model/message.js';
import type { Model, Usage } from '../model/model.js';
import type { Tool, ToolRun } from '../tools/tool.js';

/** A summary that replaces earlier messages for the model. */
export interface Summary {
  /** The text of the summary. If it is empty, the messages are removed without a summary. */
  readonly text: string;
  /**
   * The first message that the model still reads. It must not contain tool results. Default: the model reads no earlier
   * message.
   */
  readonly from?: Message | undefined;
  /** Messages before `from` that the model still reads. Default: none. */
  readonly keep?: readonly Message[] | undefined;
  /**
   * Messages with tool results that the model reads shortened, with the number of characters of each result. Default:
   * none.
   */
  readonly shorten?: readonly { readonly message: Message; readonly chars: number }[] | undefined;
  /** The messages that `beforeModel` received, if the summary is made there. Default: the messages of the run. */
  readonly messages?: readonly Message[] | undefined;
}

/** A run, as hooks see it. All hooks of one run get the same object. */
export interface RunContext<Context = unknown> extends ToolRun<Context> {
  readonly model: Model;
  /** The system instructions, sent before the messages. */
  readonly instructions?: string | undefined;
  /** Aborted when the run is aborted, but not when a hook ends the run early. Created on first access. */
  readonly signal: AbortSignal;
  /**
   * The messages that the model reads, without the instructions. The array changes during the run: copy it to keep it.
   */
  readonly messages: readonly Message[];
  /** The tokens of all model calls of the run so far, including retries. */
  readonly usage: Usage;
  /** The tools of this turn, after `beforeToolSelection`. */
  readonly tools: readonly Tool[];
  /**
   * Replaces the messages before `from` with a summary, for the rest of the run. The messages must come from
   * `messages`.
   *
   * In a session, the summary becomes an entry of the record, so that later runs read it too. People still see the
   * original messages.
   */
  summarize(summary: Summary): void;
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
}
