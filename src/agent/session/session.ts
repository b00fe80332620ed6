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

/** A stored conversation. Its runs wait in a queue and execute one at a time, across all processes. */
export interface Session<Context = unknown> extends SessionInfo {
  readonly id: string;
  /**
   * The messages from the first to the latest, as people read them: without summaries and other branches.
   *
   * If the session was opened after a compaction, the array starts with the first message that the model still reads.
   * `history` returns the earlier ones.
   */
  readonly messages: readonly Message[];
  /** The loaded entries of all branches, in the order in which they were added. */
  readonly entries: readonly Entry[];
  /**
   * Runs the agent like `agent.run`, with the stored messages of the session. Adds the messages of the run to the
   * session.
   */
  readonly run: SessionRun<Context>;
  /**
   * Streams a run like `agent.stream`, with the stored messages of the session. Adds the messages of the run to the
   * session.
   */
  readonly stream: SessionStream<Context>;
  /**
   * Returns the last `limit` entries (default: 100) before the entry `before` (default: the end), the earliest first.
   * Rejects with an EntryInvalidError if `before` is unknown.
   */
  history(query?: HistoryQuery): Promise<readonly Entry[]>;
  /**
   * Streams the events of the active run, even if another process executes it. Starts at the event with the offset
   * `from` (default: 0). The session needs the option `runLog`.
   *
   * Returns undefined if no run is active. The run continues if the reader leaves the stream. The result has an empty
   * `history`.
   *
   * @example
   * const session = await agent.session({ id: 'ada', runLog: new MemoryRunLog() });
   * const running = await session.attach({ from: 0 });
   */
  attach(options?: AttachOptions): Promise<RunStream<unknown> | undefined>;
  /**
   * Adds a message to the conversation without a run, after the queued runs. Rejects with a MessageInvalidError for
   * tool calls and tool results.
   */
  append(message: Message): Promise<void>;
  /**
   * Sends a message to the active run, in any process. The message joins once, between two turns, in the order of the
   * `send` calls. A run does not end while messages wait, unless its turns are used up.
   *
   * Without an active run, the message waits for the next run, and `run('')` answers it. `beforeAgent` does not see a
   * message that joins.
   *
   * @example
   * const sent = await session.send('Look at the tests, too.', { when: 'now' });
   * console.log(await sent.state());
   */
  send(message: string | UserMessage, options?: SendOptions): Promise<SentMessage>;
  /**
   * Stops the active run, in any process, or denies the calls and the answer of a suspended run. The background works
   * of the run continue.
   *
   * With `path`, cancels one tool call of the run or of a nested run instead.
   *
   * Resolves with true once the run has ended, the calls are denied or the call is cancelled. Resolves with false if
   * there is nothing to stop, or if the run has not ended after ten seconds.
   */
  stop(options?: StopOptions): Promise<boolean>;
  /**
   * Releases the claim of a durable run that will not continue, for example because its workflow was deleted. Such a
   * claim has no time limit, so it would block the session forever.
   *
   * If the run continues nevertheless, it ends with a RunAbortedError or a SessionLostError. Resolves with
   * false if no durable run has the claim.
   */
  break(options?: BreakOptions): Promise<boolean>;
  /**
   * Goes back to an entry: the next entry follows it. `null` goes back to the start. Nothing is removed: `entries`
   * keeps the other branch. The state of extensions does not change.
   *
   * Rejects with an EntryInvalidError if the entry is unknown, or lies between tool calls and their results.
   */
  branch(entry: string | null): Promise<void>;
  /**
   * Copies the conversation, up to an entry or to its end, to a new id. Returns the summary of the copy. The copy does
   * not run open calls. Rejects with a SessionExistsError if the new id is in use.
   */
  fork(fork: SessionFork): Promise<SessionSummary>;
  /**
   * Waits for the queued runs, stops the background works, and calls `onSessionEnd`. The record stays. Awaiting `close` inside a run of the same
   * session deadlocks.
   */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Selects a page of `session.history`. */
export interface HistoryQuery {
  /** The id of the first entry after the page. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** The type of `session.run`. */
export interface SessionRun<Context = unknown> {
  /** Runs the agent with an `output` schema. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): Promise<RunResult<OutputOf<Schema>>>;
  /** Runs the agent without an `output` schema. */
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): Promise<RunResult>;
  /** Runs the agent with an `output` schema that may be undefined. If it is undefined, the output is the text. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
}

/** The type of `session.stream`. */
export interface SessionStream<Context = unknown> {
  /** Streams a run with an `output` schema. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): RunStream<OutputOf<Schema>>;
  /** Streams a run without an `output` schema. */
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): RunStream;
  /** Streams a run with an `output` schema that may be undefined. If it is undefined, the output is the text. */
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): RunStream<OutputOf<Schema> | string>;
}
