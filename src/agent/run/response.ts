import { describeError, HookResultInvalidError } from '../../errors.js';
import { PendingWaterfall, runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import { checkResponse } from '../../model/check-response.js';
import { type AssistantMessage, type AssistantPart, type ToolCallPart, textOf } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { errorResult } from '../../tools/tool-result.js';
import type { PendingAnswer } from '../run-result.js';
import { acceptResponse } from './calls/model-call.js';
import { type PriorResults, TurnCalls } from './calls/turn-calls.js';
import type { Run } from './run.js';
import { announceModelEnd } from './run-events.js';

/** Validates a response and calls its `afterModel` hooks. Pass the response of a PendingWaterfall to `checkIntact`. */
export function judgeResponse(run: Run, given: ModelResponse): ModelResponse | PendingWaterfall<ModelResponse> {
  const response = run.isPlain ? acceptResponse(run, given) : checkWrapped(run, given);
  run.asking = false;
  return run.config.chain.afterModel === undefined || run.end.verdict !== undefined
    ? response
    : passResponse(run, response);
}

function passResponse(run: Run, response: ModelResponse): ModelResponse | PendingWaterfall<ModelResponse> {
  const judged = runWaterfall(run.config.chain.afterModel as Waterfall<ModelResponse>, response, run);
  return judged instanceof PendingWaterfall ? judged : checkIntact(run, judged, 'afterModel');
}

function checkWrapped(run: Run, response: ModelResponse): ModelResponse {
  run.step?.close();
  return checkIntact(run, response, 'wrapModelCall');
}

type ResponsePoint = 'wrapModelCall' | 'afterModel';

/** Checks a response after hooks, which may have made a part of it invalid. Such a change cannot be undone. */
export function checkIntact(run: Run, response: ModelResponse, point: ResponsePoint): ModelResponse {
  run.end.throwIfAborted();
  try {
    return checkResponse(response);
  } catch (error) {
    throw run.end.own(new HookResultInvalidError(damageBy(run, point, error), response));
  }
}

// A separate function: with a closure, `checkIntact` would allocate a context for every response.
function damageBy({ config }: Run, point: ResponsePoint, error: unknown): string {
  const hooks = config.chain.entries.filter(({ lifecycle }) => lifecycle[point] !== undefined);
  const names = hooks.map(({ name }) => name).join('", "');
  return `${point} of "${names}" must not make the response invalid in place (${describeError(error)})`;
}

/** Adds a response to the conversation. Returns the tool calls to run. */
export function keepResponse(run: Run, response: ModelResponse): TurnCalls | undefined {
  run.response = response;
  if (run.end.verdict !== undefined) return takeWithheld(run, response);
  if (run.listeners.active) announceModelEnd(run, response);
  run.shown = undefined;
  const calls = callsOf(response.content);
  return calls === undefined ? takeAnswer(run, response.content) : takeCalls(run, response, calls);
}

function takeAnswer(run: Run, content: readonly AssistantPart[]): undefined {
  run.conversation.push({ role: 'assistant', content });
  const first = content[0];
  run.end.answer = content.length === 1 && first?.type === 'text' ? first.text : textOf({ role: 'assistant', content });
}

/** Adds an answer that a hook suspended. Returns it as it appears in `pending`. */
function holdAnswer(
  run: Run,
  { content }: ModelResponse,
  verdict: Pick<PendingAnswer, 'reason' | 'by'>,
): PendingAnswer {
  const message: AssistantMessage = { role: 'assistant', content, suspended: true };
  run.conversation.push(message);
  run.end.answer = textOf(message);
  return { type: 'answer', id: 'answer', text: run.end.answer, ...verdict };
}

function takeCalls(run: Run, response: ModelResponse, calls: readonly ToolCallPart[]): TurnCalls {
  const distinct = pushCalls(run, response.content, calls);
  const reason = response.finishReason;
  return new TurnCalls(run, distinct, reason === 'tool-calls' ? undefined : cutOff(reason, distinct));
}

/**
 * Adds a response that a hook withheld. Only its tool calls are kept, with error results; a suspended one is kept
 * whole.
 */
function takeWithheld(run: Run, response: ModelResponse): TurnCalls | undefined {
  const { action, by } = run.end.verdict as NonNullable<typeof run.end.verdict>;
  const suspends = action.type === 'suspend';
  if (run.listeners.active) announceModelEnd(run, suspends ? response : undefined);
  run.shown = undefined;
  const calls = callsOf(response.content);
  const distinct = calls && pushCalls(run, response.content, calls);
  if (!suspends) return distinct && new TurnCalls(run, distinct, undefined);
  const verdict = { reason: action.reason, by };
  run.pending = distinct?.map((call) => ({ ...call, ...verdict })) ?? [holdAnswer(run, response, verdict)];
  run.conversation.flush();
  return undefined;
}

/** Returns the tool calls that Keelson has to run (not the provider), or undefined. */
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

/** Adds a response with tool calls to the conversation. A duplicate call id is replaced by a new id. */
function pushCalls(
  run: Run,
  content: readonly AssistantPart[],
  calls: readonly ToolCallPart[],
): readonly ToolCallPart[] {
  if (calls.length > 1 && hasTwins(calls)) return pushDistinct(run, content);
  run.conversation.push({ role: 'assistant', content });
  return calls;
}

function pushDistinct(run: Run, content: readonly AssistantPart[]): readonly ToolCallPart[] {
  const distinct = distinctCalls(run, content);
  run.conversation.push({ role: 'assistant', content: distinct });
  return callsOf(distinct) as ToolCallPart[];
}

/** Returns true for duplicate ids. Compares the last characters first, because that is faster. */
function hasTwins(calls: readonly ToolCallPart[]): boolean {
  let ends = 0;
  for (const { id } of calls) {
    const end = 1 << id.charCodeAt(id.length - 1);
    if (ends & end) return new Set(calls.map((call) => call.id)).size < calls.length;
    ends |= end;
  }
  return false;
}

function distinctCalls(run: Run, content: readonly AssistantPart[]): readonly AssistantPart[] {
  const seen = new Set<string>();
  return content.map((part) => {
    if (part.type !== 'tool-call') return part;
    let id = seen.has(part.id) ? run.config.ids.next('call') : part.id;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return { ...part, id };
  });
}

/** Refuses the last call of a response that was cut off, because its arguments may be incomplete. */
function cutOff(finishReason: string, calls: readonly ToolCallPart[]): PriorResults | undefined {
  if (finishReason !== 'length' && finishReason !== 'content-filter') return undefined;
  const last = calls.at(-1) as ToolCallPart;
  const text = `The call was not run: the response was cut off (${finishReason}) before it was whole. Call again.`;
  return { results: new Map([[last.id, errorResult(text)]]) };
}
