import { PendingWaterfall, runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import { noInputPoint } from '../../lifecycle/waterfall-points.js';
import { textOf, type UserMessage } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { RunResult } from '../run-result.js';
import { asksAgain } from './calls/asks-again.js';
import { executeCalls, failSingle, finaliseCalls, settleSingle } from './calls/tool-calls.js';
import { resumedCalls, type TurnCalls } from './calls/turn-calls.js';
import { complete, conclude } from './conclude.js';
import { failRun } from './fail-run.js';
import { weighAnswer } from './output.js';
import { checkIntact, judgeResponse, keepResponse } from './response.js';
import { decideAnswer } from './resume/decide-answer.js';
import type { Run } from './run.js';
import { announceRun, announceTurn } from './run-events.js';
import { adoptMessages, askModel, finishTurn, selectTools, startTurn } from './turn.js';

/** Larger than any number of lifecycles. An integer, because V8 handles it faster than Infinity. */
const ALL = 2 ** 30;

/**
 * Executes a run, for `run` and `stream` alike. The loop awaits only promises of models, tools and hooks, so that a run
 * without hooks is as fast as a loop written by hand.
 */
export async function executeRun(run: Run, message: UserMessage | undefined): Promise<RunResult<unknown>> {
  run.config.life.runs += 1;
  let isEntered = false;
  for (;;) {
    try {
      let calls: TurnCalls | undefined;
      if (!isEntered) {
        isEntered = true;
        const entering = enter(run, message);
        const text = entering instanceof PendingWaterfall ? await entering.finish() : entering;
        const beginning = begin(run, message, text);
        if (beginning !== undefined) calls = await beginning;
      }
      while (calls !== undefined || !isOver(run)) {
        if (calls === undefined) {
          const passing = startTurn(run);
          if (passing !== undefined) adoptMessages(run, await passing.finish());
          const given = await askModel(run);
          if (run.asking) {
            const judging = judgeResponse(run, given as ModelResponse);
            const isPending = judging instanceof PendingWaterfall;
            calls = keepResponse(run, isPending ? checkIntact(run, await judging.finish(), 'afterModel') : judging);
          }
        }
        if (calls !== undefined) {
          const executing = executeCalls(calls);
          if (executing !== undefined) {
            try {
              settleSingle(calls, await executing);
            } catch (error) {
              failSingle(calls, error);
            }
          }
          finaliseCalls(calls);
        }
        const finishing = finishTurn(run, calls);
        if (finishing !== undefined) await finishing;
        calls = undefined;
        const weighing = run.conversation.hasQueued || run.config.output !== undefined ? weighAnswer(run) : undefined;
        if (weighing !== undefined) await weighing;
      }
      const concluding = conclude(run);
      return complete(run, typeof concluding === 'string' ? concluding : await concluding);
    } catch (error) {
      if (!asksAgain(run, error)) throw await failRun(run, error);
    }
  }
}

/** Calls `beforeAgent`. Returns the text of the input, or undefined without such a hook. */
function enter(run: Run, message: UserMessage | undefined): string | undefined | PendingWaterfall<string> {
  if (run.listeners.active) announceRun(run, message);
  const beforeAgent = run.config.chain.beforeAgent;
  return beforeAgent === undefined ? undefined : passInput(run, message, beforeAgent);
}

function passInput(
  run: Run,
  message: UserMessage | undefined,
  waterfall: Waterfall<string>,
): string | PendingWaterfall<string> {
  run.end.throwIfAborted();
  const text = message === undefined ? '' : textOf(message);
  const { entries } = waterfall;
  // A resumed run without a message has no text to change.
  const takesNone = message === undefined && isResumed(run);
  return runWaterfall(takesNone ? { point: noInputPoint, entries } : waterfall, text, run);
}

function isResumed({ conversation: { resuming, deciding } }: Run): boolean {
  return resuming !== undefined || deciding !== undefined;
}

/** Replaces the text of a message. Images and files stay. */
function withText(message: UserMessage | undefined, text: string): UserMessage | undefined {
  if (text === (message === undefined ? '' : textOf(message))) return message;
  if (message === undefined || typeof message.content === 'string') return { role: 'user', content: text };
  const others = message.content.filter((part) => part.type !== 'text');
  return { role: 'user', content: [{ type: 'text', text }, ...others] };
}

/** Adds the user message, with the text of the `beforeAgent` hooks. Returns the tool calls of a resumed run. */
function begin(
  run: Run,
  input: UserMessage | undefined,
  text: string | undefined,
): Promise<TurnCalls | undefined> | undefined {
  const { conversation } = run;
  const message = text === undefined ? input : withText(input, text);
  run.end.throwIfAborted();
  if (run.end.verdict === undefined) run.end.entered = ALL;
  if (conversation.resuming !== undefined) return resume(run, message);
  if (conversation.deciding !== undefined) return decideAnswer(run, message);
  if (message !== undefined) conversation.push(message);
  if (conversation.hasQueued) conversation.flush();
  return undefined;
}

/** Starts turn 0, which runs the open calls of a resumed run. The user message is added after their results. */
async function resume(run: Run, message: UserMessage | undefined): Promise<TurnCalls> {
  const resumed = run.conversation.resuming as NonNullable<typeof run.conversation.resuming>;
  if (run.listeners.active) announceTurn(run);
  if (run.end.verdict === undefined) await selectTools(run);
  const { onResume } = run.attached;
  if (onResume !== undefined && run.end.verdict === undefined) await run.end.race(onResume(run));
  return resumedCalls(run, resumed, message);
}

function isOver({ end, pending }: Run): boolean {
  return end.verdict !== undefined || end.answer !== undefined || pending !== undefined;
}
