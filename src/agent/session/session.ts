import type { Message, UserMessage } from '../../model/message.js';
import type { Entry } from '../../state/record/entry.js';
import type { SessionSummary } from '../../state/session-store.js';
import type { SessionInfo } from '../../tools/tool.js';
import type { RunArguments, SessionRunOptions } from '../agent-options.js';
import type { OutputOf, OutputSchema } from '../run/output/output.js';
import type { RunResult } from '../run-result.js';
import type { RunStream } from '../run-stream.js';
import type { SessionFork } from './fork.js';
import type { AttachOptions } from './log/follow-run.js';
import type { SendOptions, SentMessage } from './sent-message.js';
import type { BreakOptions, StopOptions } from './stop/stop-session.js';

/** A stored conversation. Its runs are queued and execute one at a time, in whatever process they start. */
export interface Session<Context = unknown> extends SessionInfo {
  readonly id: string;
  /**
   * The messages from the first one to the latest, as people read them: without summaries, and without other branches.
   * Begins at the messages that the model reads if the conversation was opened after a compaction; `history` has the rest.
   */
  readonly messages: readonly Message[];
  /** The loaded entries of the record, in the order in which they were added, other branches included. */
  readonly entries: readonly Entry[];
  /** Like `agent.run`, but continues from the record of the session and adds its messages to it. */
  readonly run: SessionRun<Context>;
  /** Like `agent.stream`, but continues from the record of the session and adds its messages to it. */
  readonly stream: SessionStream<Context>;
  /**
   * Returns entries of the record, the earliest first: the last `limit` (default: 100) before the entry `before` (default:
   * the end). Rejects with an EntryInvalidError if `before` is unknown.
   */
  history(query?: HistoryQuery): Promise<readonly Entry[]>;
  /**
   * Streams the events of the active run of the conversation, also of a run in another process. Begins at the event with
   * the offset `from` (default: 0). The run continues if the reader leaves the stream. The result has an empty `history`.
   * Returns undefined if no run is active. Needs the option `runLog` of the session.
   *
   * @example
   * const session = await agent.session({ id: 'ada', runLog: new MemoryRunLog() });
   * const running = await session.attach({ from: 0 });
   */
  attach(options?: AttachOptions): Promise<RunStream<unknown> | undefined>;
  /**
   * Adds a message to the conversation, after the queued runs and without a run. Tool calls and tool results are refused
   * with a MessageInvalidError.
   */
  append(message: Message): Promise<void>;
  /**
   * Sends a message to the run that is active, in whatever process it runs. It joins once, between two turns, in the order
   * of the calls; a run does not end while messages wait, unless its turns are used up. Without an active run, the message
   * waits for the next run, and `run('')` answers it. `beforeAgent` does not see a message that joins.
   *
   * @example
   * const sent = await session.send('Look at the tests, too.', { when: 'now' });
   * console.log(await sent.state());
   */
  send(message: string | UserMessage, options?: SendOptions): Promise<SentMessage>;
  /**
   * Stops the active run, in whatever process it runs, or denies the calls and the answer of a suspended run. Resolves with
   * true when that is done, and with false if it finds no such run, or if the run has not ended after ten seconds. With `path`, cancels one tool call instead, of the
   * run or of a nested run. The background
   * works of the run continue.
   */
  stop(options?: StopOptions): Promise<boolean>;
  /**
   * Takes the conversation from a durable run whose execution is gone. Such a run holds it without a time limit. If the
   * execution does continue, its run ends with a RunAbortedError or a SessionLostError. Resolves with false if no durable run has the conversation.
   */
  break(options?: BreakOptions): Promise<boolean>;
  /**
   * Goes back: the next entry follows this one. `null` goes back to the start. Nothing is removed: `entries` has the
   * other branch. The state of extensions stays as it is. Rejects with an EntryInvalidError if the entry is unknown, or lies
   * between tool calls and their results.
   */
  branch(entry: string | null): Promise<void>;
  /**
   * Copies the conversation to a new id, up to an entry or to its end. Returns the summary of the copy. The copy does not
   * run open calls. Rejects with a SessionExistsError if the new id is in use.
   */
  fork(fork: SessionFork): Promise<SessionSummary>;
  /**
   * Waits for the queued runs, stops the background works, and calls `onSessionEnd`. The record stays. Awaiting `close` inside a run of the same
   * session deadlocks.
   */
  close(): Promise<void>;
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Selects a page of `session.history`. */
export interface HistoryQuery {
  /** The id of the entry that follows the page. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** The type of `session.run`. */
export interface SessionRun<Context = unknown> {
  /** Like `agent.run`, but continues from the record of the session and adds its messages to it. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): Promise<RunResult<OutputOf<Schema>>>;
  /** Like `agent.run`, but continues from the record of the session and adds its messages to it. */
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): Promise<RunResult>;
  /** Like `agent.run`, but continues from the record of the session and adds its messages to it. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
}

/** The type of `session.stream`. */
export interface SessionStream<Context = unknown> {
  /** Like `agent.stream`, but continues from the record of the session and adds its messages to it. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): RunStream<OutputOf<Schema>>;
  /** Like `agent.stream`, but continues from the record of the session and adds its messages to it. */
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): RunStream;
  /** Like `agent.stream`, but continues from the record of the session and adds its messages to it. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): RunStream<OutputOf<Schema> | string>;
}
