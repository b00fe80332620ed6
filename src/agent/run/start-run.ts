import { describeValue, MessageInvalidError } from '../../errors.js';
import { invalidOption } from '../../internal/options/validate.js';
import { RUN } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { checkAddition, checkMessages } from '../../model/check-messages.js';
import type { Message, UserMessage } from '../../model/message.js';
import { suspendedAnswer } from '../../model/waiting.js';
import { startLimit } from '../agent-life.js';
import type { AnyRunOptions } from '../agent-options.js';
import type { RunResult, RunTimeoutError } from '../run-result.js';
import { outerCallOf } from './outer-call.js';
import { type Run, RunView, UNATTACHED } from './run.js';
import { NO_OPTIONS } from './run-config.js';
import { executeRun } from './run-loop.js';

/** Starts a run. Throws before any hook is called if the input or the messages are invalid. */
export function startRun(run: Run, input: string | UserMessage, options: AnyRunOptions): Promise<RunResult<unknown>> {
  const message = messageOf(input, options.messages);
  const checking = options === NO_OPTIONS ? undefined : takeHistory(run, options);
  return checking === undefined ? begin(run, message, options) : beginLater(checking, run, { message, options });
}

interface Start {
  readonly message: UserMessage | undefined;
  readonly options: AnyRunOptions;
}

async function beginLater(checking: Promise<void>, run: Run, { message, options }: Start): Promise<RunResult<unknown>> {
  await checking;
  return begin(run, message, options);
}

function begin(run: Run, message: UserMessage | undefined, options: AnyRunOptions): Promise<RunResult<unknown>> {
  run.attached.recorder?.posts.bind(run.end);
  if (options !== NO_OPTIONS || run.attached !== UNATTACHED || run.config.timeouts.runMs !== undefined) {
    bindAborts(run, options);
  }
  run.attached.onStart?.(run.end);
  return executeRun(run, message);
}

/** Adds the messages to the run. Returns a promise if they end in calls or an answer that wait for a decision. */
function takeHistory(run: Run, { messages, resume }: AnyRunOptions): Promise<void> | undefined {
  if (messages === undefined && resume === undefined) return undefined;
  // The type of the option allows any role; `checkMessages` does not.
  const history = (messages ?? []) as readonly Message[];
  const isOpen = checkMessages(history, run.attached.closed) !== undefined || suspendedAnswer(history) !== undefined;
  if (isOpen || resume !== undefined) return resumeHistory(run, history, resume);
  run.conversation.continueFrom({ history });
  return undefined;
}

/** Imports the code on first use, because many programs never resume a run. */
async function resumeHistory(run: Run, history: readonly Message[], resume: AnyRunOptions['resume']): Promise<void> {
  const { takeOver } = await import('./resume/resume-run.js');
  await takeOver(run, history, resume);
}

/** Aborts the run with its parent and its signals, and at its time limit. */
function bindAborts(run: Run, { signal, parent }: AnyRunOptions): void {
  const { attached, config, end } = run;
  if (parent !== undefined) abortWithParent(run, parent);
  // `agent.close()` waits for the runs of a session, so it must be able to abort them.
  if (attached.session !== undefined) end.stopper();
  if (signal !== undefined) abortWith(run, signal);
  if (attached.left !== undefined) abortWith(run, attached.left);
  // Uses the limit that started before the run, if there is one.
  const limit = attached.limit ?? startLimit(config.timeouts.runMs, config.clock);
  if (limit === undefined) return;
  end.stopper().followStop(limit, (error) => end.abort(error as RunTimeoutError));
  end.stopper().whenReleased(() => limit.release());
}

/** Converts the input to a user message. Returns undefined for an empty input with `messages`. */
function messageOf(input: string | UserMessage, messages: readonly unknown[] | undefined): UserMessage | undefined {
  return input === '' && messages?.length ? undefined : userMessageOf(input);
}

/** Converts an input to a user message. Throws a MessageInvalidError. */
export function userMessageOf(input: string | UserMessage): UserMessage {
  if (typeof input === 'string') return { role: 'user', content: input };
  if (input?.role !== 'user') throw new MessageInvalidError(`The input must be ${expectedInput(input)}.`);
  checkAddition(input);
  return input;
}

/** Describes valid input. Gives advice if the caller passed messages or one options object, as in other libraries. */
function expectedInput(input: unknown): string {
  const got = `got ${describeValue(input)}`;
  if (Array.isArray(input)) return `a string or a user message, ${got}; pass messages as \`run('', { messages })\``;
  const key = Object.keys(Object(input)).find((name) => ['messages', 'prompt', 'input'].includes(name));
  if (key === undefined) return `a string, or a message of role "user", ${got}`;
  const call = key === 'messages' ? "run('', { messages })" : `run(${key}, options)`;
  return `a string or a user message, got an object with \`${key}\`; call \`${call}\``;
}

/** Aborts the run when the signal aborts. The listener is removed when the run ends. */
function abortWith(run: Run, signal: AbortSignal): void {
  run.end.stopper().follow(signal, (reason) => run.end.abort(new RunAbortedError(reason)));
}

/** Aborts the run with its parent. If another copy of this library made the parent, uses the signal of the parent. */
function abortWithParent(run: Run, parent: Partial<RunContext>): void {
  if (!(parent instanceof RunView)) {
    if (parent?.signal instanceof AbortSignal) return abortWith(run, parent.signal);
    throw invalidOption('parent', 'the run of a hook, or `context.run` of a tool', parent);
  }
  run.end.stopper().followStop(parent[RUN].end.stopper(), (reason) => run.end.abort(new RunAbortedError(reason)));
  outerCallOf(parent)?.enter(run);
}
