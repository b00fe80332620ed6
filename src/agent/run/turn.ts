import type { Awaitable } from '../../internal/promise.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { PendingWaterfall, runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import { ToolSnapshot } from '../../tools/tool-catalog.js';
import { TurnLimitError } from '../run-result.js';
import { callModel } from './calls/model-call.js';
import { ModelStep } from './calls/model-step.js';
import type { TurnCalls } from './calls/turn-calls.js';
import type { Run } from './run.js';
import { announceModel, announceTurn, announceTurnEnd, partSink } from './run-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/** Starts a turn and calls the `beforeModel` hooks. Pass the messages of a PendingWaterfall to `adoptMessages`. */
export function startTurn(run: Run): PendingWaterfall<readonly Message[]> | undefined {
  if (run.turn >= run.config.maxTurns) checkTurnLimit(run);
  run.turn += 1;
  if (run.listeners.active) announceTurn(run);
  return run.config.chain.beforeModel === undefined ? undefined : passMessages(run);
}

/** Throws TurnLimitError at the limit. With `atLimit: 'answer'`, one more turn is allowed. */
function checkTurnLimit(run: Run): void {
  const { maxTurns, atLimit } = run.config;
  if (run.turn > maxTurns || atLimit !== 'answer') throw run.end.own(new TurnLimitError(maxTurns));
}

function passMessages(run: Run): PendingWaterfall<readonly Message[]> | undefined {
  const waterfall = run.config.chain.beforeModel as Waterfall<readonly Message[]>;
  const messages = runWaterfall(waterfall, run.conversation.history, run);
  return messages instanceof PendingWaterfall ? messages : adoptMessages(run, messages);
}

/** Takes over the messages of the `beforeModel` hooks. */
export function adoptMessages(run: Run, messages: readonly Message[]): undefined {
  run.conversation.adopt(messages);
  run.end.throwIfAborted();
}

/**
 * Calls the `beforeToolSelection` hooks, sets `run.asking`, and calls the model. Returns the response, which is not
 * validated yet. If a hook ends the run, `run.asking` stays false, and the result is undefined.
 */
export function askModel(run: Run): Awaitable<ModelResponse | undefined> {
  if (run.end.verdict !== undefined) return undefined;
  const selecting = selectTools(run);
  return selecting === undefined ? beginModelCall(run) : askLater(run, selecting);
}

// A separate function: V8 allocates a scope for the variables of a closure on each call, even if it is never created.
function askLater(run: Run, selecting: PromiseLike<void>): PromiseLike<ModelResponse | undefined> {
  return selecting.then(() => beginModelCall(run));
}

/** Stores the tools of the turn, after `beforeToolSelection`. The extra turn of `atLimit: 'answer'` has no tools. */
export function selectTools(run: Run): PromiseLike<void> | undefined {
  const { config } = run;
  run.tools = run.turn > config.maxTurns ? NO_TOOLS : config.catalog.current();
  return config.chain.beforeToolSelection === undefined ? undefined : narrowTools(run, run.tools);
}

function narrowTools(run: Run, all: ToolSnapshot): PromiseLike<void> | undefined {
  if (all === NO_TOOLS) return undefined;
  const waterfall = run.config.chain.beforeToolSelection as Waterfall<readonly Tool[]>;
  // A copy, so that a hook that changes the array in place affects this turn only.
  const tools = runWaterfall(waterfall, [...all.tools], run);
  return tools instanceof PendingWaterfall
    ? tools.finish().then((later) => adoptTools(run, later))
    : adoptTools(run, tools);
}

function adoptTools(run: Run, tools: readonly Tool[]): undefined {
  run.tools = new ToolSnapshot(tools);
}

/** Calls the model, through the `wrapModelCall` hooks if there are any. */
function beginModelCall(run: Run): Awaitable<ModelResponse | undefined> {
  run.end.throwIfAborted();
  if (run.end.verdict !== undefined) return undefined;
  if (run.listeners.active) announceModel(run);
  run.asked += 1;
  run.asking = true;
  run.isPlain = run.config.isPlain && run.end.stop === undefined && !run.listeners.active;
  return run.isPlain ? run.config.model.generate(requestOf(run, undefined)) : callWithHooks(run);
}

function callWithHooks(run: Run): Awaitable<ModelResponse> {
  const { wrapModelCall } = run.config.chain;
  run.attempt = 0;
  run.streamed = 0;
  // A call of `run.ask` that a hook has left behind ends before the next step begins.
  run.step?.close();
  run.step = undefined;
  if (wrapModelCall === undefined) return callModel(requestOf(run, run.end.stop?.signal), run);
  run.step = new ModelStep(run, requestOf(run, undefined));
  return wrapModelCall(run.step.request, run.step);
}

/** Returns a new request object for the model call of the current turn. */
function requestOf(run: Run, signal: AbortSignal | undefined): ModelCallRequest {
  const { config } = run;
  const tools = run.tools as ToolSnapshot;
  return {
    messages: run.conversation.outgoing,
    tools: tools.tools,
    toolChoice: tools === NO_TOOLS ? 'none' : config.toolChoice,
    output: config.output?.request,
    settings: config.settings,
    signal,
    onPart: run.listeners.active ? partSink(run) : undefined,
    model: config.model,
    run: run.context,
  };
}

/** Ends a turn. Saves it if the run has a session, then throws the error that ended its tool calls early, if any. */
export function finishTurn(run: Run, calls: TurnCalls | undefined): PromiseLike<void> | undefined {
  return run.attached.onTurn === undefined ? endTurn(run, calls) : saveTurn(run, calls);
}

/** Saves a completed turn. A turn whose response a hook withheld is not saved. */
async function saveTurn(run: Run, calls: TurnCalls | undefined): Promise<void> {
  if (calls?.begun || run.end.answer !== undefined || run.pending !== undefined) await saveRun(run);
  endTurn(run, calls);
}

function endTurn(run: Run, calls: TurnCalls | undefined): undefined {
  if (calls !== undefined) throwEarlyEnd(run, calls);
  if (run.listeners.active) announceTurnEnd(run);
}

function throwEarlyEnd({ end }: Run, { failure }: TurnCalls): void {
  end.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}

/** Saves the messages of the run to its session. An abort ends the wait. Returns undefined without a session. */
export function saveRun(run: Run): PromiseLike<void> | undefined {
  const { onTurn } = run.attached;
  run.saved = run.conversation.added.length;
  return onTurn === undefined ? undefined : (run.end.race(onTurn(run)) as PromiseLike<void>);
}
