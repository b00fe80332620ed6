import { describeValue, MessageInvalidError } from '../../errors.js';
import { invalidOption } from '../../internal/options/validate.js';
import { RUN } from '../../lifecycle/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message, UserMessage } from '../../model/message.js';
import type { AnyRunOptions } from '../agent-options.js';
import { type RunResult, RunTimeoutError } from '../run-result.js';
import { continueFrom } from './continuation.js';
import { type Run, RunView } from './run.js';
import { executeRun } from './run-loop.js';

/** Starts a run. Throws where its input or messages cannot be used: then no hook has been called. */
export function startRun(run: Run, input: string | UserMessage, options: AnyRunOptions): Promise<RunResult<unknown>> {
  const { resume } = options;
  // Checked below: the type of the option takes any role.
  const messages = options.messages as readonly Message[] | undefined;
  const message = messageOf(input, messages);
  if (messages !== undefined || resume !== undefined) {
    const { history, resumed } = continueFrom(messages ?? [], resume);
    run.conversation.replace(history);
    run.conversation.resuming = resumed;
  }
  bindAborts(run, options);
  return executeRun(run, message);
}

function bindAborts(run: Run, { signal, parent }: AnyRunOptions): void {
  const { left, session } = run.attached;
  if (parent !== undefined) abortWithParent(run, parent);
  // A session waits for its runs: they have to end when the agent is closed.
  if (session !== undefined) run.end.stopper();
  if (signal !== undefined) abortWith(run, signal);
  if (left !== undefined) abortWith(run, left);
  if (run.config.timeouts.runMs !== undefined) limitTime(run, run.config.timeouts.runMs);
}

/** An empty text goes on from the conversation as it is. */
function messageOf(input: string | UserMessage, messages: readonly Message[] | undefined): UserMessage | undefined {
  if (typeof input === 'string') {
    return input === '' && messages?.length ? undefined : { role: 'user', content: input };
  }
  if (input?.role !== 'user') throw new MessageInvalidError(`The input must be ${expectedInput(input)}.`);
  checkAddition(input);
  return input;
}

/** Other libraries take the messages, or one object with all options, in this place. */
function expectedInput(input: unknown): string {
  const got = `got ${describeValue(input)}`;
  if (Array.isArray(input)) return `a string or a user message, ${got}; pass messages as \`run('', { messages })\``;
  const meant = Object.keys(Object(input)).find((key) => ['messages', 'prompt', 'input'].includes(key));
  if (meant === undefined) return `a string, or a message of role "user", ${got}`;
  const call = meant === 'messages' ? "run('', { messages })" : `run(${meant}, options)`;
  return `a string or a user message, got an object with \`${meant}\`; call \`${call}\``;
}

/** Ends the run when the signal aborts, and lets go of the signal when the run ends. */
function abortWith(run: Run, signal: AbortSignal): void {
  run.end.stopper().follow(signal, (reason) => run.end.abort(new RunAbortedError(reason)));
}

/** A run of another copy of this library (ESM beside CommonJS) serves as a parent too: it has a signal. */
function abortWithParent(run: Run, parent: Partial<RunContext>): void {
  if (!(parent instanceof RunView)) {
    if (parent?.signal instanceof AbortSignal) return abortWith(run, parent.signal);
    throw invalidOption('parent', 'the `run` of a hook, or that of the context of a tool', parent);
  }
  run.end.stopper().followStop(parent[RUN].end.stopper(), (reason) => run.end.abort(new RunAbortedError(reason)));
}

function limitTime(run: Run, runMs: number): void {
  const { clock } = run.config;
  const handle = clock.setTimeout(() => run.end.abort(new RunTimeoutError(runMs)), runMs);
  run.end.stopper().whenReleased(() => clock.clearTimeout(handle));
}
