import { type Awaitable, isPromise } from '../../internal/promise.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import {
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  textOf,
  toolCallsOf,
} from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import { ToolSnapshot } from '../tool-catalog.js';
import { partOf } from './call-parts.js';
import { callModel } from './model-call.js';
import type { Run } from './run.js';
import { type PriorResults, ToolBatch } from './tool-batch.js';
import { announceModel, announceModelEnd, announceTurn, announceTurnEnd, partSink } from './turn-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/** Begins a turn and runs the hooks before its model call; a promise only where one of them returns one. */
export function prepareTurn(run: Run, answerOnly: boolean): PromiseLike<void> | undefined {
  run.turn += 1;
  if (run.listening) announceTurn(run);
  const { beforeModel } = run.config.chain;
  return beforeModel === undefined ? selectTools(run, answerOnly) : passMessages(run, beforeModel, answerOnly);
}

// A function of its own: a closure in the one above would cost every turn a context, hooks or not. So below.
function passMessages(
  run: Run,
  waterfall: Waterfall<readonly Message[]>,
  answerOnly: boolean,
): PromiseLike<void> | undefined {
  const messages = runWaterfall(waterfall, run.messages, run);
  return isPromise(messages)
    ? messages.then((later) => adoptMessages(run, later, answerOnly))
    : adoptMessages(run, messages, answerOnly);
}

function adoptMessages(run: Run, messages: readonly Message[], answerOnly: boolean): PromiseLike<void> | undefined {
  // A hook that changed the list in place has replaced it as well, whatever its type says.
  const { history, outgoing } = run;
  if (messages !== history || (outgoing !== history && isBehind(outgoing, history))) run.replaceHistory(messages);
  return run.verdict === undefined ? selectTools(run, answerOnly) : undefined;
}

/** Whether a list is not what the other is with the instructions before it. */
function isBehind(outgoing: readonly Message[], history: readonly Message[]): boolean {
  return outgoing.length > history.length + 1 || history.some((message, i) => message !== outgoing[i + 1]);
}

/** Takes the turn's snapshot of the tools, after `beforeToolSelection`. */
export function selectTools(run: Run, answerOnly: boolean): PromiseLike<void> | undefined {
  run.snapshot = answerOnly ? NO_TOOLS : run.config.catalog.current();
  const { beforeToolSelection } = run.config.chain;
  return beforeToolSelection === undefined || answerOnly
    ? undefined
    : narrowTools(run, beforeToolSelection, run.snapshot.tools);
}

function narrowTools(
  run: Run,
  waterfall: Waterfall<readonly Tool[]>,
  all: readonly Tool[],
): PromiseLike<void> | undefined {
  // A copy, so that a hook that changes the array in place changes this turn alone.
  const tools = runWaterfall(waterfall, [...all], run);
  return isPromise(tools) ? tools.then((later) => adoptTools(run, later)) : adoptTools(run, tools);
}

function adoptTools(run: Run, tools: readonly Tool[]): undefined {
  run.snapshot = new ToolSnapshot(tools);
}

/** Whether the turn goes on to its model call: not where a hook before it ended the run. */
export function goesToModel(run: Run): boolean {
  run.throwIfAborted();
  if (run.verdict !== undefined) return false;
  if (run.listening) announceModel(run);
  run.asked += 1;
  run.asking = true;
  return true;
}

/** Calls the model: through its wraps, or with a watch on it. */
export function askModel(run: Run, answerOnly: boolean): Awaitable<ModelResponse> {
  const { wrapModelCall } = run.config.chain;
  run.attempt = 0;
  run.streamed = 0;
  const request = requestOf(run, answerOnly);
  return wrapModelCall === undefined ? callModel(request, run) : wrapModelCall(request, run);
}

/** What the model is asked in this turn. */
export function requestOf(run: Run, answerOnly: boolean): ModelCallRequest {
  const { config } = run;
  return {
    messages: run.outgoing,
    tools: (run.snapshot as ToolSnapshot).tools,
    toolChoice: answerOnly ? 'none' : config.toolChoice,
    output: config.output?.request,
    settings: config.settings,
    signal: run.stop?.signal,
    onPart: run.listening ? partSink(run) : undefined,
    model: config.model,
    run,
  };
}

/** Runs afterModel; a promise only where one of its hooks returns one. */
export function judgeResponse(run: Run, response: ModelResponse): Awaitable<ModelResponse> {
  run.asking = false;
  const { afterModel } = run.config.chain;
  return afterModel === undefined || run.verdict !== undefined ? response : runWaterfall(afterModel, response, run);
}

/** Adds the response to the conversation. Returns the calls that are to run now. */
export function takeResponse(run: Run, response: ModelResponse): ToolBatch | undefined {
  run.throwIfAborted();
  run.response = response;
  const calls = callsOf(response.content);
  if (run.verdict !== undefined) return takeWithVerdict(run, response, calls);
  if (run.listening) announceModelEnd(run, response);
  if (calls !== undefined) return takeCalls(run, response, calls);
  takeAnswer(run, response);
  return undefined;
}

function takeAnswer(run: Run, { content }: ModelResponse): void {
  const message: AssistantMessage = { role: 'assistant', content };
  run.push(message);
  const first = content[0];
  run.answer = content.length === 1 && first?.type === 'text' ? first.text : textOf(message);
}

/** A response that a hook withheld: only its calls are kept, with an error result each, and those of a suspended one. */
function takeWithVerdict(run: Run, response: ModelResponse, calls: ToolCallPart[] | undefined): ToolBatch | undefined {
  const action = run.verdict?.action;
  const suspends = action?.type === 'suspend';
  if (run.listening) announceModelEnd(run, suspends ? response : undefined);
  if (calls === undefined) {
    if (!suspends) return undefined;
    takeAnswer(run, response);
    run.pending = [];
    run.flush();
    return undefined;
  }
  const content = distinctCalls(run, response.content, calls);
  run.push({ role: 'assistant', content });
  const distinct = callsOf(content) as ToolCallPart[];
  if (!suspends) return new ToolBatch(run, distinct, undefined);
  const by = run.verdict?.by as string;
  run.pending = distinct.map((call) => ({ ...call, reason: action.reason, by }));
  run.flush();
  return undefined;
}

function takeCalls(run: Run, response: ModelResponse, calls: ToolCallPart[]): ToolBatch {
  const content = distinctCalls(run, response.content, calls);
  run.push({ role: 'assistant', content });
  const distinct = content === response.content ? calls : (callsOf(content) as ToolCallPart[]);
  const { finishReason } = response;
  const isCutOff = finishReason === 'length' || finishReason === 'content-filter';
  return new ToolBatch(run, distinct, isCutOff ? cutOff(finishReason, distinct) : undefined);
}

/** The calls in a response that are this side's to run; undefined where there are none. */
function callsOf(content: readonly AssistantPart[]): ToolCallPart[] | undefined {
  let calls: ToolCallPart[] | undefined;
  for (let i = 0; i < content.length; i++) {
    const part = content[i] as AssistantPart;
    if (part.type !== 'tool-call' || part.providerExecuted) continue;
    if (calls === undefined) calls = [part];
    else calls.push(part);
  }
  return calls;
}

/** Gives a call whose id another call of the response has an id of its own, so that each result has one call. */
function distinctCalls(
  run: Run,
  content: readonly AssistantPart[],
  calls: readonly ToolCallPart[],
): readonly AssistantPart[] {
  if (calls.length === 1 || !hasTwins(calls)) return content;
  const seen = new Set<string>();
  return content.map((part) => {
    if (part.type !== 'tool-call') return part;
    let id = seen.has(part.id) ? run.ids.next('call') : part.id;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return { ...part, id };
  });
}

/** By what the ids end in, and only where two end alike by the whole: most often no two do. */
function hasTwins(calls: readonly ToolCallPart[]): boolean {
  let ends = 0;
  for (const { id } of calls) {
    const end = 1 << id.charCodeAt(id.length - 1);
    if (ends & end) return new Set(calls.map((call) => call.id)).size < calls.length;
    ends |= end;
  }
  return false;
}

/** A response that was cut off may have lost the end of its last call: that one is not run. */
function cutOff(finishReason: string, calls: readonly ToolCallPart[]): PriorResults {
  const last = calls.at(-1) as ToolCallPart;
  const text = `The call was not run: the response was cut off (${finishReason}) before it was whole. Call again.`;
  return { results: new Map([[last.id, errorResult(text)]]), approved: false };
}

/** Adds the results of a turn's calls to the conversation, one message in call order, then what was added meanwhile. */
export function closeCalls(run: Run, batch: ToolBatch): void {
  const pending = batch.finish();
  run.resuming = undefined;
  const results =
    pending === undefined
      ? (batch.results as ToolResultPart[])
      : batch.results.filter((result) => result !== undefined);
  if (results.length > 0) run.push({ role: 'tool', content: results });
  run.pending = pending;
  run.flush();
}

/** Gives the calls that were left open an error result each, where the run failed after all: nobody will resume it. */
export function closePending(run: Run): void {
  const asked = run.history.findLast((message) => toolCallsOf(message).length > 0);
  if (asked === undefined || run.pending === undefined || run.pending.length === 0) return;
  run.pending = undefined;
  const at = run.history.indexOf(asked) + 1;
  const partial = run.history[at]?.role === 'tool' ? (run.history[at] as ToolMessage) : undefined;
  const failed = errorResult('The call was not completed, because the run failed.');
  const content = toolCallsOf(asked).map(
    (call) => partial?.content.find(({ id }) => id === call.id) ?? partOf(call, failed),
  );
  for (const list of new Set([run.added, run.history, run.outgoing])) {
    list.splice(list.indexOf(asked) + 1, partial === undefined ? 0 : 1, { role: 'tool', content });
  }
}

/**
 * Ends a turn: saves it where the run has a session, then throws what ended its calls before their time. A turn that
 * a hook withheld is not a completed one, and is not saved.
 */
export function finishTurn(run: Run, batch: ToolBatch | undefined): PromiseLike<void> | undefined {
  return run.attached.onTurn === undefined ? endTurn(run, batch) : saveTurn(run, batch);
}

async function saveTurn(run: Run, batch: ToolBatch | undefined): Promise<void> {
  if (batch?.ran || run.answer !== undefined || run.pending !== undefined) await run.save();
  endTurn(run, batch);
}

function endTurn(run: Run, batch: ToolBatch | undefined): undefined {
  if (batch !== undefined) batch.throwIfFailed();
  if (run.listening) announceTurnEnd(run);
}
