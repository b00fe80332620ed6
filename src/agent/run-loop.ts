import { type Awaitable, isPromise } from '../internal/promise.js';
import { RejectedError } from '../lifecycle/run-failure.js';
import { runThread } from '../lifecycle/thread.js';
import { textOf, type UserMessage } from '../model/message.js';
import { checkOutput } from './output.js';
import { type ResumedCalls, resumeCalls } from './resume.js';
import type { Run } from './run.js';
import { failRun } from './run-failing.js';
import { type PendingCall, type RunResult, TurnLimitError } from './run-result.js';
import { runTurn } from './turn.js';

/** What a run begins with. */
export interface RunInput {
  /** The user's message; undefined where the run goes on from its history alone. */
  readonly message: UserMessage | undefined;
  /** The open calls at the end of the history, and what was decided on each. */
  readonly resumed: ResumedCalls | undefined;
}

const NOTHING_PENDING: readonly PendingCall[] = Object.freeze([]);

/** Runs from the first hook to the last: the one loop, for `run` and `stream` alike. */
export async function executeRun(run: Run, input: RunInput): Promise<RunResult<unknown>> {
  const { active, output: schema } = run.config;
  active.add(run);
  try {
    if (run.listening) announce(run, input);
    run.throwIfAborted();
    const entering = enter(run, input);
    if (entering !== undefined) await entering;
    let output: unknown;
    while (!isOver(run)) {
      await runTurn(run, isLastWord(run));
      if (run.answer === undefined) continue;
      if (schema !== undefined) output = await checkOutput(run, run.answer);
      if (run.answer !== undefined && goesOn(run)) run.answer = undefined;
    }
    const concluding = conclude(run);
    const text = isPromise(concluding) ? await concluding : concluding;
    return complete(run, text, schema === undefined ? text : output);
  } catch (error) {
    throw await failRun(run, error);
  } finally {
    active.delete(run);
    run.stop?.release();
  }
}

function announce(run: Run, { message }: RunInput): void {
  run.emit({ type: 'run-start', runId: run.id, agent: run.agent, input: message === undefined ? '' : textOf(message) });
}

/** Calls beforeAgent, lets the user's message join, and settles the calls of a resumed run. */
function enter(run: Run, input: RunInput): Awaitable<void> | undefined {
  const { beforeAgent } = run.config.chain;
  if (beforeAgent === undefined) return begin(run, input, undefined);
  const text = input.message === undefined ? '' : textOf(input.message);
  const entered = runThread(beforeAgent, text, run);
  if (!isPromise(entered)) return begin(run, input, entered);
  return entered.then((later) => begin(run, input, later));
}

function begin(run: Run, { message, resumed }: RunInput, text: string | undefined): Promise<void> | undefined {
  run.throwIfAborted();
  if (run.verdict === undefined) run.entered = Number.POSITIVE_INFINITY;
  const joined = message !== undefined && text !== undefined ? withText(message, text) : message;
  if (resumed !== undefined && run.verdict === undefined) {
    return resumeCalls(run, resumed).then(() => join(run, joined));
  }
  join(run, joined);
  return undefined;
}

function join(run: Run, message: UserMessage | undefined): void {
  if (message !== undefined) run.push(message);
  run.flush();
}

/** The message with its text replaced; pictures and files stay as they are. */
function withText(message: UserMessage, text: string): UserMessage {
  if (text === textOf(message)) return message;
  if (typeof message.content === 'string') return { role: 'user', content: text };
  const others = message.content.filter((part) => part.type !== 'text');
  return { role: 'user', content: [{ type: 'text', text }, ...others] };
}

function isOver(run: Run): boolean {
  return run.verdict !== undefined || run.answer !== undefined || run.pending !== undefined;
}

/** Whether the coming turn is the one beyond `maxTurns` that has to answer without tools. */
function isLastWord(run: Run): boolean {
  const { maxTurns, atLimit } = run.config;
  if (run.turn < maxTurns) return false;
  if (run.turn === maxTurns && atLimit === 'answer') return true;
  throw run.own(new TurnLimitError(maxTurns));
}

/** Whether something that was added after the final answer buys another turn. */
function goesOn(run: Run): boolean {
  if (!run.flush()) return false;
  if (run.turn < run.config.maxTurns) return true;
  run.logger.warn(
    `A message was added after the last of ${run.config.maxTurns} turns: it stands in the history unanswered.`,
  );
  return false;
}

/** The text that the run ends with, through afterAgent. Throws where the run was rejected. */
function conclude(run: Run): Awaitable<string> {
  const action = run.verdict?.action;
  if (action === undefined || action.type === 'suspend') return afterAgent(run, run.answer ?? '');
  if (action.type === 'reject') {
    const { by, point } = run.verdict as NonNullable<typeof run.verdict>;
    throw run.own(new RejectedError(action.reason, by, point));
  }
  run.push({ role: 'assistant', content: [{ type: 'text', text: action.text }] });
  const saving = run.setup.onTurn?.(run);
  return saving === undefined ? afterAgent(run, action.text) : saving.then(() => afterAgent(run, action.text));
}

function afterAgent(run: Run, text: string): Awaitable<string> {
  run.closing = true;
  const thread = run.config.chain.afterAgent;
  return thread === undefined ? text : runThread(thread, text, run);
}

function complete(run: Run, text: string, output: unknown): RunResult<unknown> {
  run.closing = true;
  const { pending, added, history, turn, finishReason, decisions } = run;
  const result: RunResult<unknown> = {
    status: pending === undefined ? 'completed' : 'suspended',
    text,
    output,
    messages: added,
    history,
    pending: pending ?? NOTHING_PENDING,
    usage: run.usage,
    turns: turn,
    finishReason,
    decisions,
  };
  if (run.listening) run.emit({ type: 'run-end', runId: run.id, result });
  return result;
}
