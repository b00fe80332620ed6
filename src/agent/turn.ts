import { isPromise } from '../internal/promise.js';
import type { ModelCallRequest } from '../lifecycle/lifecycle.js';
import { runThread } from '../lifecycle/thread.js';
import {
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';
import { errorResult } from '../tools/tool-result.js';
import { assertDistinct } from '../tools/tool-set.js';
import { acceptResponse, callModel, isPlainCall, modelFailure } from './model-call.js';
import type { Run } from './run.js';
import { type PriorResults, ToolBatch } from './tool-batch.js';
import { ToolSnapshot } from './tool-catalog.js';
import { beginModel, beginTurn, endModel, endTurn, partSink } from './turn-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/**
 * One turn: beforeModel, beforeToolSelection, the model call in its wraps, afterModel, the tool calls in theirs. Leaves
 * what came of it on the run: an answer, open calls, a verdict, or none of them where another turn is due.
 */
export async function runTurn(run: Run, lastWord: boolean): Promise<void> {
  run.turn += 1;
  beginTurn(run);
  const preparing = prepare(run, lastWord);
  if (preparing !== undefined) await preparing;
  run.throwIfAborted();
  if (run.verdict !== undefined) return endTurn(run);

  beginModel(run);
  const { wrapModelCall, afterModel } = run.config.chain;
  const request = requestOf(run, lastWord);
  let response: ModelResponse;
  try {
    if (wrapModelCall !== undefined) response = await wrapModelCall(request, run);
    else if (isPlainCall(run)) response = acceptResponse(run, await run.model.generate(request));
    else response = await callModel(request, run);
  } catch (error) {
    throw modelFailure(run, run.model.id, error);
  }
  run.throwIfAborted();
  if (afterModel !== undefined && run.verdict === undefined) {
    const judged = runThread(afterModel, response, run);
    response = isPromise(judged) ? await judged : judged;
    run.throwIfAborted();
  }
  const batch = takeResponse(run, response);
  const settling = batch === undefined ? saveTurn(run) : runCalls(run, batch);
  if (settling !== undefined) await settling;
  endTurn(run);
}

/** Runs the hooks before the model call; a promise only where one of them returns one. */
function prepare(run: Run, lastWord: boolean): PromiseLike<void> | undefined {
  const { beforeModel } = run.config.chain;
  if (beforeModel === undefined) return selectTools(run, lastWord);
  const messages = runThread(beforeModel, run.messages, run);
  if (!isPromise(messages)) return adoptMessages(run, messages, lastWord);
  return messages.then((later) => adoptMessages(run, later, lastWord));
}

function adoptMessages(run: Run, messages: readonly Message[], lastWord: boolean): PromiseLike<void> | undefined {
  if (messages !== run.history) run.replaceHistory(messages);
  return run.verdict === undefined ? selectTools(run, lastWord) : undefined;
}

/** Takes the turn's snapshot of the tools, after `beforeToolSelection`. */
export function selectTools(run: Run, lastWord: boolean): PromiseLike<void> | undefined {
  run.snapshot = lastWord ? NO_TOOLS : run.config.catalog.current();
  const { beforeToolSelection } = run.config.chain;
  if (beforeToolSelection === undefined || lastWord) return undefined;
  const tools = runThread(beforeToolSelection, run.snapshot.tools, run);
  if (!isPromise(tools)) return adoptTools(run, tools);
  return tools.then((later) => adoptTools(run, later));
}

function adoptTools(run: Run, tools: readonly Tool[]): undefined {
  if (tools === run.snapshot?.tools) return;
  assertDistinct(tools);
  run.snapshot = new ToolSnapshot([...tools]);
}

function requestOf(run: Run, lastWord: boolean): ModelCallRequest {
  const { settings, toolChoice, output } = run.config;
  return {
    messages: run.outgoing,
    tools: run.tools,
    toolChoice: lastWord ? 'none' : toolChoice,
    output: output?.request,
    settings,
    signal: run.stop?.signal,
    onPart: partSink(run),
    model: run.model,
    run,
  };
}

/** Adds the response to the conversation. Returns the calls that are to run now. */
function takeResponse(run: Run, response: ModelResponse): ToolBatch | undefined {
  const { verdict } = run;
  run.finishReason = response.finishReason;
  const calls = callsOf(response.content);
  const withheld = verdict !== undefined && verdict.action.type !== 'suspend';
  endModel(run, withheld ? undefined : response);
  if (calls === undefined) {
    if (!withheld) takeAnswer(run, response);
    return undefined;
  }
  const content = calls.length > 1 ? distinctCalls(run, response.content) : response.content;
  run.push({ role: 'assistant', content });
  const distinct = content === response.content ? calls : (callsOf(content) as ToolCallPart[]);
  if (verdict?.action.type === 'suspend') {
    const { reason } = verdict.action;
    run.pending = distinct.map((call) => ({ ...call, reason, by: verdict.by }));
    return undefined;
  }
  return new ToolBatch(run, distinct, cutOff(response, distinct));
}

function takeAnswer(run: Run, { content }: ModelResponse): void {
  const message: AssistantMessage = { role: 'assistant', content };
  run.push(message);
  if (run.verdict === undefined) run.answer = textOf(message);
}

/** The calls in a response that are this side's to run; undefined where there are none. */
function callsOf(content: readonly AssistantPart[]): ToolCallPart[] | undefined {
  let calls: ToolCallPart[] | undefined;
  for (const part of content) {
    if (part.type !== 'tool-call' || part.providerExecuted) continue;
    if (calls === undefined) calls = [part];
    else calls.push(part);
  }
  return calls;
}

/** Gives a call whose id another call of the response has an id of its own, so that each result has one call. */
function distinctCalls(run: Run, content: readonly AssistantPart[]): readonly AssistantPart[] {
  const seen = new Set<string>();
  let changed = false;
  const distinct = content.map((part) => {
    if (part.type !== 'tool-call') return part;
    const id = seen.has(part.id) ? run.ids.next('call') : part.id;
    seen.add(id);
    changed ||= id !== part.id;
    return id === part.id ? part : { ...part, id };
  });
  return changed ? distinct : content;
}

/** A response that was cut off may have lost the end of its last call: that one is not run. */
function cutOff({ finishReason }: ModelResponse, calls: readonly ToolCallPart[]): PriorResults | undefined {
  if (finishReason !== 'length' && finishReason !== 'content-filter') return undefined;
  const last = calls.at(-1) as ToolCallPart;
  const text = `The call was not run: the response was cut off (${finishReason}) before it was whole. Call again.`;
  return { results: new Map([[last.id, errorResult(text)]]), approved: false };
}

/**
 * Runs a turn's calls and adds their results to the conversation, one message in call order. A promise only where
 * something has to be awaited. Where the run has its verdict already, every call gets an error result.
 */
export function runCalls(run: Run, batch: ToolBatch): PromiseLike<void> | undefined {
  if (run.verdict !== undefined) return closeCalls(run, batch);
  const running = batch.execute();
  return running === undefined ? endCalls(run, batch) : running.then(() => endCalls(run, batch));
}

function endCalls(run: Run, batch: ToolBatch): PromiseLike<void> | undefined {
  closeCalls(run, batch);
  run.flush();
  const saving = run.setup.onTurn?.(run);
  return saving === undefined ? batch.throwIfFailed() : saving.then(() => batch.throwIfFailed());
}

function closeCalls(run: Run, batch: ToolBatch): undefined {
  const pending = batch.finish();
  const results = pending.length === 0 ? (batch.results as ToolResultPart[]) : batch.collect();
  if (results.length > 0) run.push({ role: 'tool', content: results });
  if (pending.length > 0) run.pending = pending;
}

/** A turn that a hook withheld is not a completed one. */
function saveTurn(run: Run): Promise<void> | undefined {
  return run.answer === undefined && run.pending === undefined ? undefined : run.setup.onTurn?.(run);
}
