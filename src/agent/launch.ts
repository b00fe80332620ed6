import { MessageInvalidError } from '../errors.js';
import { Stop } from '../internal/stop.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import { checkAddition } from '../model/check-messages.js';
import type { Message, UserMessage } from '../model/message.js';
import type { RunOptions } from './agent-options.js';
import { type Continuation, continueFrom } from './resume.js';
import { Run, type RunSetup } from './run.js';
import type { RunConfig } from './run-config.js';
import { executeRun } from './run-loop.js';
import { type RunResult, RunTimeoutError } from './run-result.js';

/** What a run is attached to beside its options. */
export interface Attached {
  readonly sink?: RunSetup['sink'];
  readonly session?: RunSetup['session'];
  readonly onTurn?: RunSetup['onTurn'];
  /** Aborted where the consumer of a stream leaves it. */
  readonly left?: AbortSignal;
}

/** What is asked of one run. */
export interface RunOrder {
  readonly input: string | UserMessage;
  readonly options: RunOptions<never, unknown>;
  readonly attached: Attached;
}

const FROM_NOTHING: Continuation = { history: [], resumed: undefined };

/** Starts a run. Throws where its input or messages cannot be used: then no hook has been called. */
export function startRun(config: RunConfig, { input, options, attached }: RunOrder): Promise<RunResult<unknown>> {
  const { messages, resume, context, parent } = options;
  const { sink, session, onTurn } = attached;
  const message = messageOf(input, messages);
  const fresh = messages === undefined && resume === undefined;
  const { history, resumed } = fresh ? FROM_NOTHING : continueFrom(messages ?? [], resume);
  const run = new Run({ config, context, session, parent, history, sink, onTurn });
  if (resumed !== undefined) run.rewritten = true;
  abortWith(run, options.signal);
  abortWith(run, attached.left);
  abortWithParent(run, parent);
  limitTime(run);
  return executeRun(run, { message, resumed });
}

/** An empty text goes on from the conversation as it is. */
function messageOf(input: string | UserMessage, messages: readonly Message[] | undefined): UserMessage | undefined {
  if (typeof input === 'string') {
    return input === '' && messages !== undefined && messages.length > 0 ? undefined : { role: 'user', content: input };
  }
  checkAddition(input);
  if (input.role !== 'user')
    throw new MessageInvalidError(
      `The input is a text or a user message, not one of role "${String((input as Message).role)}".`,
    );
  return input;
}

/** Ends the run when the signal aborts, and lets go of the signal when the run ends. */
function abortWith(run: Run, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const abort = () => run.abort(abortErrorOf(signal.reason));
  const stop = run.stopper();
  if (signal.aborted) return abort();
  signal.addEventListener('abort', abort, { once: true });
  stop.whenReleased(() => signal.removeEventListener('abort', abort));
}

function abortWithParent(run: Run, parent: RunContext | undefined): void {
  if (!(parent instanceof Run)) return;
  const { abortError } = parent;
  if (abortError !== undefined) return run.abort(abortErrorOf(abortError));
  const stop = parent.stopper();
  run.stopper().whenReleased(stop.onStop(() => run.abort(abortErrorOf(stop.reason))));
}

function limitTime(run: Run): void {
  const { timeouts, clock } = run.config;
  const { runMs } = timeouts;
  if (runMs === undefined) return;
  const handle = clock.setTimeout(() => run.abort(new RunTimeoutError(runMs)), runMs);
  run.stopper().whenReleased(() => clock.clearTimeout(handle));
}

function abortErrorOf(reason: unknown): RunAbortedError {
  return new RunAbortedError(reason);
}

/** Waits for something before a run can start; an abort meanwhile ends the wait with a RunAbortedError. */
export async function waitBeforeRun(
  promise: Promise<unknown>,
  { options, attached }: Omit<RunOrder, 'input'>,
): Promise<void> {
  const stop = new Stop();
  stop.follow(options.signal);
  stop.follow(attached.left);
  try {
    await stop.race(promise);
  } catch (error) {
    throw stop.stopped ? abortErrorOf(stop.reason) : error;
  } finally {
    stop.release();
  }
}
