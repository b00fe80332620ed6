import { describeError, HookResultInvalidError } from '../../errors.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import { checkResponse } from '../../model/check-response.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import { ToolSnapshot } from '../../tools/tool-catalog.js';
import { callModel } from './calls/model-call.js';
import { ModelStep } from './calls/model-step.js';
import type { TurnCalls } from './calls/turn-calls.js';
import type { Run } from './run.js';
import { announceModel, announceTurn, announceTurnEnd, partSink } from './run-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/** Starts a turn and calls the hooks before the model call. Returns a promise only if a hook does. */
export function prepareTurn(run: Run): PromiseLike<void> | undefined {
  run.turn += 1;
  if (run.listeners.active) announceTurn(run);
  const { beforeModel } = run.config.chain;
  return beforeModel === undefined ? selectTools(run) : passMessages(run, beforeModel);
}

// A separate function, as `narrowTools`: a closure would allocate a context for every turn, also without hooks.
function passMessages(run: Run, waterfall: Waterfall<readonly Message[]>): PromiseLike<void> | undefined {
  const messages = runWaterfall(waterfall, run.conversation.history, run);
  return isPromise(messages) ? messages.then((later) => adoptMessages(run, later)) : adoptMessages(run, messages);
}

function adoptMessages(run: Run, messages: readonly Message[]): PromiseLike<void> | undefined {
  run.conversation.adopt(messages);
  return run.end.verdict === undefined ? selectTools(run) : undefined;
}

/** Stores the tools of the turn, after `beforeToolSelection`. The extra turn of `atLimit: 'answer'` has no tools. */
export function selectTools(run: Run): PromiseLike<void> | undefined {
  const { chain, catalog, maxTurns } = run.config;
  const { beforeToolSelection } = chain;
  run.tools = run.turn > maxTurns ? NO_TOOLS : catalog.current();
  return beforeToolSelection === undefined || run.tools === NO_TOOLS
    ? undefined
    : narrowTools(run, beforeToolSelection, run.tools.tools);
}

function narrowTools(
  run: Run,
  waterfall: Waterfall<readonly Tool[]>,
  all: readonly Tool[],
): PromiseLike<void> | undefined {
  // A copy, so that a hook that changes the array in place affects this turn only.
  const tools = runWaterfall(waterfall, [...all], run);
  return isPromise(tools) ? tools.then((later) => adoptTools(run, later)) : adoptTools(run, tools);
}

function adoptTools(run: Run, tools: readonly Tool[]): undefined {
  run.tools = new ToolSnapshot(tools);
}

/** Marks the start of the model call. Returns false if a hook has ended the run. */
export function beginModelCall(run: Run): boolean {
  run.end.throwIfAborted();
  if (run.end.verdict !== undefined) return false;
  if (run.listeners.active) announceModel(run);
  run.asked += 1;
  run.asking = true;
  return true;
}

/** Calls the model, through the `wrapModelCall` hooks if there are any. */
export function askModel(run: Run): Awaitable<ModelResponse> {
  const { wrapModelCall } = run.config.chain;
  run.attempt = 0;
  run.streamed = 0;
  // A call of `run.ask` that a hook has left behind ends before the next step begins.
  run.step?.close();
  run.step = undefined;
  if (wrapModelCall === undefined) return callModel(modelRequestOf(run), run);
  run.step = new ModelStep(run, fieldsOf(run, undefined));
  return wrapModelCall(run.step.request, run.step);
}

/** Returns a new request object for the model call of the current turn. */
export function modelRequestOf(run: Run): ModelCallRequest {
  return fieldsOf(run, run.end.stop?.signal);
}

function fieldsOf(run: Run, signal: AbortSignal | undefined): ModelCallRequest {
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

/** Checks the response of the hooks around the model call, since a hook may change the response in place. */
export function checkWrapped(run: Run, response: ModelResponse): ModelResponse {
  try {
    return checkResponse(response);
  } catch (error) {
    const expected = `wrapModelCall hooks must not make the response invalid in place (${describeError(error)})`;
    throw run.end.own(new HookResultInvalidError(expected, response));
  }
}

/** Calls the `afterModel` hooks. Returns a promise only if a hook does. */
export function judgeResponse(run: Run, response: ModelResponse): Awaitable<ModelResponse> {
  run.asking = false;
  run.step?.close();
  const { afterModel } = run.config.chain;
  return afterModel === undefined || run.end.verdict !== undefined ? response : runWaterfall(afterModel, response, run);
}

/** Ends a turn. Saves it if the run has a session, then throws the error that ended its tool calls early, if any. */
export function finishTurn(run: Run, calls: TurnCalls | undefined): PromiseLike<void> | undefined {
  if (run.attached.onTurn !== undefined) return saveTurn(run, calls);
  endTurn(run, calls);
  return undefined;
}

/** Saves a completed turn. A turn whose response a hook withheld is not saved. */
async function saveTurn(run: Run, calls: TurnCalls | undefined): Promise<void> {
  if (calls?.begun || run.end.answer !== undefined || run.pending !== undefined) await saveRun(run);
  endTurn(run, calls);
}

function endTurn(run: Run, calls: TurnCalls | undefined): void {
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
