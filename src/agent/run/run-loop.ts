import { type Awaitable, isPromise } from '../../internal/promise.js';
import type { DurableEngine } from '../../lifecycle/hook-run/hook-run.js';
import { type Waterfall, WaterfallCall } from '../../lifecycle/waterfall.js';
import { noInputPoint } from '../../lifecycle/waterfall-points.js';
import { textOf, type UserMessage } from '../../model/message.js';
import type { RunResult } from '../run-result.js';
import { canGoOn, conclude } from './conclude.js';
import { failRun } from './fail-run.js';
import { instruct } from './instructions.js';
import { reviewAnswer } from './output/output.js';
import { earlierTurnOf } from './resume/earlier-turn.js';
import type { Recorder, Run } from './run.js';
import { ownerOf } from './run-config.js';
import { startTurn } from './turn/turn.js';
import { turnLimitOf } from './turn-limit.js';

/**
 * Executes a run, for both `run` and `stream`.
 *
 * Each phase returns a promise only if it waits for a model, a tool, a hook or a store. So a hook that nobody
 * implements costs no microtask.
 *
 * `save` does nothing without a session, and `effects` is set in a durable run only. `conclude` returns undefined if
 * messages arrived during the last save. The run then continues with another turn.
 */
export async function executeRun(run: Run, input: UserMessage | undefined): Promise<RunResult<unknown>> {
  ownerOf(run).life.runs += 1;
  try {
    const entering = enter(run, input);
    if (entering !== undefined) await entering;
    const asking = run.save();
    if (asking !== undefined) await asking;
    for (;;) {
      const joining = joinPosts(run);
      if (joining !== undefined) await joining;
      if (isOver(run)) {
        const checking = canGoOn(run) ? undefined : run.effects?.checkEnd();
        if (checking !== undefined) await checking;
        const concluding = conclude(run);
        const result = isPromise(concluding) ? await concluding : concluding;
        if (result !== undefined) return result;
        continue;
      }
      const turn = startTurn(run);
      const preparing = turn.prepare();
      if (preparing !== undefined) await preparing;
      try {
        // If a hook has ended the run with a verdict, the model is not called.
        if (run.end.verdict === undefined) turn.receive(await turn.ask());
      } catch (error) {
        await turn.recover(error);
      }
      if (turn.response !== undefined) {
        const judging = turn.judge(turn.response);
        turn.keep(isPromise(judging) ? await judging : judging);
        const keeping = turn.calls && run.save();
        if (keeping !== undefined) await keeping;
        const calling = turn.calls?.execute();
        if (calling !== undefined) await calling;
        turn.calls?.addResults();
      }
      const settling = turn.settle();
      if (settling !== undefined) await settling;
      const reviewing = reviewAnswer(run);
      if (reviewing !== undefined) await reviewing;
    }
  } catch (error) {
    throw await failRun(run, error);
  }
}

/** Emits `run-start`, calls `beforeAgent`, and adds the user message. */
function enter(run: Run, input: UserMessage | undefined): Awaitable<void> {
  const { listeners, config, context } = run;
  if (listeners.active) {
    const event = { type: 'run-start', runId: context.id, agent: config.agent, input: textIn(input) } as const;
    const earlier = earlierTurnOf(run);
    listeners.emit(earlier === undefined ? event : { ...event, earlier });
  }
  run.end.throwIfAborted();
  // After a handover, the next agent already has its instructions.
  if (config.part === undefined) instruct(run);
  const { durable } = config.chain;
  return durable === undefined ? callFirst(run, input) : enterDurable(run, durable, input);
}

async function enterDurable(run: Run, engine: DurableEngine, input: UserMessage | undefined): Promise<void> {
  await engine.begin(run);
  await callFirst(run, input);
}

function callFirst(run: Run, input: UserMessage | undefined): Awaitable<void> {
  const { beforeAgent } = run.config.chain;
  return beforeAgent === undefined ? addInput(run, input) : passInput(run, input, beforeAgent);
}

/** Calls the `beforeAgent` hooks with the text of the input. They may replace the text. */
function passInput(run: Run, input: UserMessage | undefined, hooks: Waterfall<string>): Awaitable<void> {
  // A resumed run without a message has no text to replace.
  const takesNoText = input === undefined && run.conversation.resuming !== undefined;
  const waterfall = takesNoText ? { ...hooks, point: noInputPoint } : hooks;
  return new WaterfallCall(waterfall, textIn(input), run).run((text) => addInput(run, withText(input, text)));
}

/** Adds the user message. A resumed run executes its open calls first, and adds the message after their results. */
function addInput(run: Run, message: UserMessage | undefined): Awaitable<void> {
  const { conversation, end, pairing } = run;
  end.throwIfAborted();
  if (end.verdict === undefined) pairing.enterAll();
  conversation.input = message;
  if (conversation.resuming !== undefined) return resume(run, message);
  run.attached.recorder?.posts.joinAtStart(run);
  if (message !== undefined) conversation.push(message);
  conversation.addQueued();
}

/** Imports the code on first use, because many programs never resume a run. */
async function resume(run: Run, message: UserMessage | undefined): Promise<void> {
  const { resumeRun } = await import('./resume/resume-run.js');
  await resumeRun(run, message);
}

/**
 * Adds the messages that callers have sent to the session. If no turn is left, the messages wait for the next run.
 *
 * A durable run first stores its own entries, in a step of the engine. The stored result of the step also has the
 * waiting messages, so that every attempt adds the same messages.
 */
function joinPosts(run: Run): Promise<void> | undefined {
  const { end, pending, effects, attached } = run;
  const { recorder } = attached;
  if (recorder === undefined || end.verdict !== undefined || pending !== undefined) return undefined;
  return effects === undefined ? join(run, recorder) : joinStored(run, recorder);
}

function join(run: Run, { posts }: Recorder): Promise<void> | undefined {
  const isLast = run.context.turn >= turnLimitOf(run);
  return posts.join(run, isLast);
}

async function joinStored(run: Run, recorder: Recorder): Promise<void> {
  await run.end.raceOwned(recorder.claim.flush());
  await join(run, recorder);
}

function textIn(message: UserMessage | undefined): string {
  return message === undefined ? '' : textOf(message);
}

/** Replaces the text of a message. Images and files stay. */
function withText(message: UserMessage | undefined, text: string): UserMessage | undefined {
  if (text === textIn(message)) return message;
  if (message === undefined || typeof message.content === 'string') return { role: 'user', content: text };
  const others = message.content.filter((part) => part.type !== 'text');
  return { role: 'user', content: [{ type: 'text', text }, ...others] };
}

/** True if the run needs no further turn. */
function isOver({ end, answer, pending }: Run): boolean {
  return end.verdict !== undefined || answer !== undefined || pending !== undefined;
}
