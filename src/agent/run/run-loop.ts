import { type Awaitable, isPromise } from '../../internal/promise.js';
import type { Verdict } from '../../lifecycle/hook-run.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import { textOf, type UserMessage } from '../../model/message.js';
import { type RunRecord, type RunResult, TurnLimitError } from '../run-result.js';
import { failRun } from './fail-run.js';
import { acceptResponse, isPlainCall } from './model-call.js';
import { checkOutput } from './output.js';
import { resumedBatch } from './resume.js';
import type { Run } from './run.js';
import type { ToolBatch } from './tool-batch.js';
import {
  askModel,
  closeCalls,
  finishTurn,
  goesToModel,
  judgeResponse,
  prepareTurn,
  requestOf,
  selectTools,
  takeResponse,
} from './turn.js';
import { announceTurn } from './turn-events.js';

/** More parts than any agent has: a whole number, which costs less than Infinity. */
const ALL = 2 ** 30;

/**
 * Runs from the first hook to the last: the one loop, for `run` and `stream` alike. It awaits only what is a promise,
 * and no function of its own, so that a run without hooks costs no more than a loop written by hand.
 */
export async function executeRun(run: Run, message: UserMessage | undefined): Promise<RunResult<unknown>> {
  run.config.life.runs += 1;
  try {
    const entering = enter(run, message);
    let batch = isPromise(entering) ? await entering : entering;
    while (batch !== undefined || !isOver(run)) {
      if (batch === undefined) {
        const answerOnly = run.turn >= run.config.maxTurns && isAnswerOnly(run);
        const preparing = prepareTurn(run, answerOnly);
        if (preparing !== undefined) await preparing;
        if (goesToModel(run)) {
          const plain = isPlainCall(run);
          const raw = await (plain ? run.config.model.generate(requestOf(run, answerOnly)) : askModel(run, answerOnly));
          const judging = judgeResponse(run, plain ? acceptResponse(run, raw) : raw);
          batch = takeResponse(run, isPromise(judging) ? await judging : judging);
        }
      }
      if (batch !== undefined) {
        const running = batch.begin();
        if (running !== undefined) {
          try {
            batch.resume(await running);
          } catch (error) {
            batch.resumeFailed(error);
          }
        }
        closeCalls(run, batch);
      }
      const finishing = finishTurn(run, batch);
      if (finishing !== undefined) await finishing;
      batch = undefined;
      const weighing = run.hasAdditions || run.config.output !== undefined ? weighAnswer(run) : undefined;
      if (weighing !== undefined) await weighing;
    }
    const concluding = conclude(run);
    return complete(run, isPromise(concluding) ? await concluding : concluding);
  } catch (error) {
    throw await failRun(run, error);
  }
}

/** Calls beforeAgent and lets the user's message join. Gives the calls of a resumed run. */
function enter(run: Run, message: UserMessage | undefined): Awaitable<ToolBatch | undefined> {
  if (run.listening) announce(run, message);
  const { beforeAgent } = run.config.chain;
  return beforeAgent === undefined ? begin(run, message) : passInput(run, message, beforeAgent);
}

// A function of its own: a closure in the one above would cost every run a context, hooks or not.
function passInput(
  run: Run,
  message: UserMessage | undefined,
  waterfall: Waterfall<string>,
): Awaitable<ToolBatch | undefined> {
  run.throwIfAborted();
  const text = message === undefined ? '' : textOf(message);
  const entered = runWaterfall(waterfall, text, run);
  return isPromise(entered)
    ? entered.then((later) => begin(run, withText(message, later)))
    : begin(run, withText(message, entered));
}

function announce(run: Run, message: UserMessage | undefined): void {
  run.emit({ type: 'run-start', runId: run.id, agent: run.agent, input: message === undefined ? '' : textOf(message) });
}

function begin(run: Run, message: UserMessage | undefined): Awaitable<ToolBatch | undefined> {
  run.throwIfAborted();
  if (run.verdict === undefined) run.entered = ALL;
  if (run.resuming !== undefined) return resume(run, message);
  if (message !== undefined) run.push(message);
  run.flush();
  return undefined;
}

/** Turn 0: the calls that the run was resumed with. The message waits for their results. */
async function resume(run: Run, message: UserMessage | undefined): Promise<ToolBatch> {
  const resumed = run.resuming as NonNullable<typeof run.resuming>;
  if (run.listening) announceTurn(run);
  if (run.verdict === undefined) await selectTools(run, false);
  return resumedBatch(run, resumed, message);
}

/** The message with its text replaced; pictures and files stay as they are. */
function withText(message: UserMessage | undefined, text: string): UserMessage | undefined {
  if (text === (message === undefined ? '' : textOf(message))) return message;
  if (message === undefined || typeof message.content === 'string') return { role: 'user', content: text };
  const others = message.content.filter((part) => part.type !== 'text');
  return { role: 'user', content: [{ type: 'text', text }, ...others] };
}

function isOver(run: Run): boolean {
  return run.verdict !== undefined || run.answer !== undefined || run.pending !== undefined;
}

/** Whether the turn that comes after the last one may still be had: to answer, without tools. */
function isAnswerOnly(run: Run): boolean {
  const { maxTurns, atLimit } = run.config;
  if (run.turn === maxTurns && atLimit === 'answer') return true;
  throw run.own(new TurnLimitError(maxTurns));
}

/** Holds an answer against the output schema, and sees whether it is the last: takes it back where it is not. */
function weighAnswer(run: Run): PromiseLike<void> | undefined {
  if (run.answer === undefined || run.pending !== undefined) return undefined;
  return run.config.output === undefined ? weighAdditions(run) : weighValue(run, run.answer);
}

/** What was added after the answer buys another turn, or stands in the history unanswered. */
function weighAdditions(run: Run): PromiseLike<void> | undefined {
  if (!goesOn(run)) return run.save() as PromiseLike<void> | undefined;
  run.answer = undefined;
  return undefined;
}

async function weighValue(run: Run, answer: string): Promise<void> {
  run.output = await checkOutput(run, answer);
  if (run.answer !== undefined && run.hasAdditions) await weighAdditions(run);
}

/** Whether something that was added after the final answer buys another turn. */
function goesOn(run: Run): boolean {
  if (!run.flush()) return false;
  if (run.turn < run.config.maxTurns) return true;
  run.logger.warn(`A message added after the last of ${run.config.maxTurns} turns stands in the history unanswered.`);
  return false;
}

/** The text that the run ends with, through afterAgent. Throws where the run was rejected. */
function conclude(run: Run): Awaitable<string> {
  return run.verdict === undefined ? afterAgent(run, run.answer ?? '') : concludeEarly(run, run.verdict);
}

function concludeEarly(run: Run, { action, by, point }: Verdict): Awaitable<string> {
  if (action.type === 'suspend') return afterAgent(run, run.answer ?? '');
  if (action.type === 'reject') throw run.own(new RejectedError(action.reason, by, point));
  return respond(run, action.text);
}

/** A part gave the answer: it is held against the output schema, and saved, as the model's would be. */
async function respond(run: Run, text: string): Promise<string> {
  run.flush();
  run.push({ role: 'assistant', content: [{ type: 'text', text }] });
  run.output = await checkOutput(run, text);
  await run.save();
  return afterAgent(run, text);
}

function afterAgent(run: Run, text: string): Awaitable<string> {
  run.closing = true;
  const waterfall = run.config.chain.afterAgent;
  return waterfall === undefined ? text : runWaterfall(waterfall, text, run);
}

function complete(run: Run, text: string): RunResult<unknown> {
  run.finish();
  run.config.life.runs -= 1;
  run.config.life.onEnd();
  const { pending, added, history, asked, response, total, decisions } = run;
  const record: RunRecord = {
    text,
    messages: added,
    history,
    usage: total,
    turns: asked,
    finishReason: response?.finishReason ?? 'other',
    annotations: response?.annotations,
    decisions,
  };
  const result: RunResult<unknown> =
    pending === undefined
      ? { status: 'completed', output: run.config.output === undefined ? text : run.output, pending: [], ...record }
      : { status: 'suspended', pending, ...record };
  if (run.listening) run.emit({ type: 'run-end', runId: run.id, result });
  return result;
}
