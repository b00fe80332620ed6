import { isPromise } from '../../internal/promise.js';
import { runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import { noInputPoint } from '../../lifecycle/waterfall-points.js';
import { textOf, type UserMessage } from '../../model/message.js';
import type { RunResult } from '../run-result.js';
import { complete, conclude } from './conclude.js';
import { failRun } from './fail-run.js';
import { reviewAnswer } from './output.js';
import { resumeRun } from './resume/resume-run.js';
import type { Run } from './run.js';
import { startTurn } from './turn/turn.js';

/**
 * Executes a run, for `run` and `stream` alike. A step returns a promise only if a model, a tool or a hook has returned one.
 * The loop awaits nothing else, so a hook that nobody has registered costs no microtask.
 */
export async function executeRun(run: Run, input: UserMessage | undefined): Promise<RunResult<unknown>> {
  run.config.life.runs += 1;
  try {
    const entering = enter(run, input);
    if (entering !== undefined) await entering;
    while (!run.isOver) {
      const turn = startTurn(run);
      const preparing = turn.prepare();
      if (preparing !== undefined) await preparing;
      try {
        if (run.end.verdict === undefined) turn.receive(await turn.ask());
      } catch (error) {
        turn.recover(error);
      }
      if (turn.response !== undefined) {
        const judging = turn.judge(turn.response);
        turn.keep(isPromise(judging) ? await judging : judging);
        const calling = turn.calls?.execute();
        if (calling !== undefined) await calling;
        turn.calls?.finish();
      }
      const ending = turn.end();
      if (ending !== undefined) await ending;
      const reviewing = reviewAnswer(run);
      if (reviewing !== undefined) await reviewing;
    }
    const concluding = conclude(run);
    return complete(run, isPromise(concluding) ? await concluding : concluding);
  } catch (error) {
    throw await failRun(run, error);
  }
}

/** Begins the run with its input, after `beforeAgent`. */
function enter(run: Run, input: UserMessage | undefined): PromiseLike<void> | undefined {
  const { listeners, config, context } = run;
  if (listeners.active) {
    const text = input === undefined ? '' : textOf(input);
    listeners.emit({ type: 'run-start', runId: context.id, agent: config.agent, input: text });
  }
  run.end.throwIfAborted();
  const { beforeAgent } = config.chain;
  return beforeAgent === undefined ? begin(run, input) : beginAfterHooks(run, input, beforeAgent);
}

/** Calls `beforeAgent` with the text of the input, and begins the run with the text that the hooks return. */
function beginAfterHooks(
  run: Run,
  input: UserMessage | undefined,
  hooks: Waterfall<string>,
): PromiseLike<void> | undefined {
  // A resumed run without a message has no text to change.
  const takesNoText = input === undefined && run.conversation.isResumed;
  const waterfall = takesNoText ? { ...hooks, point: noInputPoint } : hooks;
  const text = runWaterfall(waterfall, input === undefined ? '' : textOf(input), run);
  return isPromise(text) ? text.then((later) => begin(run, withText(input, later))) : begin(run, withText(input, text));
}

/** Adds the user message. A resumed run executes its open calls first. */
function begin(run: Run, message: UserMessage | undefined): PromiseLike<void> | undefined {
  const { conversation, end, pairing } = run;
  end.throwIfAborted();
  if (end.verdict === undefined) pairing.enterAll();
  if (conversation.isResumed) return resumeRun(run, message);
  if (message !== undefined) conversation.push(message);
  conversation.flush();
  return undefined;
}

/** Replaces the text of a message. Images and files stay. */
function withText(message: UserMessage | undefined, text: string): UserMessage | undefined {
  if (text === (message === undefined ? '' : textOf(message))) return message;
  if (message === undefined || typeof message.content === 'string') return { role: 'user', content: text };
  const others = message.content.filter((part) => part.type !== 'text');
  return { role: 'user', content: [{ type: 'text', text }, ...others] };
}
