import { isObject, isTexts } from '../../internal/json.js';
import { array, fullText, listOf, object, required, text } from '../../internal/options/rules.js';
import { memberProblems, type OptionRule, type OptionRules, unknownName } from '../../internal/options/validate.js';
import { checkMessages } from '../../model/check-messages.js';
import { type AssistantPart, isContent, type Message } from '../../model/message.js';
import type { FinishReason, ModelResponse } from '../../model/model.js';
import { problemOfPart } from '../../model/whole-response.js';
import { HOOK_EVENTS, type HookEvent, isHookEvent, isToolEvent } from '../../programs/hook-event.js';
import type { ToolResult } from '../../tools/tool.js';
import type { HookEffects } from '../hook/effects.js';
import { HookEventInvalidError } from '../hook/error.js';
import type { EventFields, HookEventContext } from '../hook/event-context.js';
import { jsonText } from '../hook/plain-json.js';
import { callData, rewriteInput, rewriteResult, shownResult } from './input.js';
import {
  answerOf,
  joinLimits,
  limitTools,
  type NamesOf,
  rewriteMessages,
  rewriteResponse,
  shownResponse,
} from './model-fields.js';
import type { HookEventResult } from './outcome.js';

/**
 * Data of each event for `runner.run`. Hooks read the fields under `data`; additional fields are passed on unchanged.
 */
export interface HookEventData {
  readonly session_start: { readonly session_id: string };
  readonly before_agent: { readonly prompt: string; readonly context?: object | undefined };
  readonly before_model: { readonly messages: readonly Message[]; readonly model?: string | undefined };
  readonly before_tool_selection: { readonly available_tools: readonly string[] };
  readonly after_model: {
    /** The text as a string, or an object with the text or the parts. */
    readonly response: string | { readonly text: string } | { readonly content: readonly AssistantPart[] };
    readonly tokens?: { readonly input?: number; readonly output?: number; readonly total?: number } | undefined;
  };
  readonly before_tool: { readonly tool_name: string; readonly args?: unknown };
  /** `result` is a string, any other value, or an object with `content`, `structured` and `is_error`. */
  readonly after_tool: { readonly tool_name: string; readonly result: unknown; readonly args?: unknown };
  readonly after_agent: { readonly response: string; readonly tool_calls?: readonly object[] | undefined };
  readonly session_end: { readonly session_id: string; readonly messages?: readonly Message[] | undefined };
  readonly notification: { readonly message: string; readonly notification_type?: string | undefined };
  readonly before_subagent: { readonly agent: string; readonly agent_id?: string | undefined };
  readonly after_subagent: {
    readonly agent: string;
    readonly response: string;
    readonly agent_id?: string | undefined;
  };
  readonly before_compaction: { readonly trigger?: string | undefined };
  readonly after_compaction: { readonly trigger?: string | undefined };
  readonly after_tools: { readonly tool_calls: readonly object[] };
  readonly permission_request: { readonly tool_name: string; readonly args?: unknown; readonly reason?: string };
  readonly permission_denied: { readonly tool_name: string; readonly args?: unknown; readonly reason?: string };
  readonly run_failed: { readonly error: string };
}

/** The data of an event, for all events. */
export type PlainData = Readonly<Record<string, unknown>>;

/** How `runner.run` handles the data of an event. */
interface PlainEvent {
  readonly rules: OptionRules;
  /** Returns the `source` of an event without a tool. Matchers of Claude Code and Gemini CLI select it. */
  readonly source?: (data: PlainData) => unknown;
  readonly fields?: (data: PlainData) => Partial<EventFields>;
  readonly rewrite?: (data: PlainData, effects: HookEffects) => PlainData;
  /** Returns the final data after all hooks have run. */
  readonly end?: (data: PlainData, outcome: HookEventResult, namesOf: NamesOf) => PlainData;
}

const messages: OptionRule = { expected: 'an array of messages', accepts: isConversation };
const names: OptionRule = { expected: 'an array of strings', accepts: isTexts };
const given: OptionRule = { expected: 'a value', accepts: () => true };
const response: OptionRule = {
  expected: 'a string, an object with `text`, or an object with `content`, an array of parts',
  accepts: (value) => typeof value === 'string' || (isObject(value) && contentOf(value) !== undefined),
};

/** An event about the approval of a call. */
const PERMISSION: PlainEvent = {
  rules: { tool_name: required(fullText), reason: text },
  fields: (data) => ({ data: { ...data, ...callData(callOf(data)) } }),
};

const EVENTS: Readonly<Record<HookEvent, PlainEvent>> = {
  session_start: {
    rules: { session_id: required(fullText), source: text },
    source: ({ source = 'startup' }) => source,
  },
  before_agent: {
    rules: { prompt: required(text), context: object },
    rewrite: (data, { prompt }) => (prompt === undefined ? data : { ...data, prompt }),
  },
  before_model: {
    rules: { messages: required(messages), model: text },
    fields: (data) => ({ conversation: () => conversationOf(data) }),
    rewrite: (data, effects) => ({ ...data, messages: rewriteMessages(conversationOf(data).messages, effects) }),
    end: (data, { model }) => {
      const answer = model.findLast((changes) => changes.response !== undefined)?.response;
      return answer === undefined ? data : { ...data, response: shownResponse(answerOf(answer([]))) };
    },
  },
  before_tool_selection: {
    rules: { available_tools: required(names) },
    rewrite: (data, { tools }) =>
      tools === undefined || tools.joins ? data : withTools(data, (left) => limitTools(left, [tools])),
    end: (data, { tools }, namesOf) => withTools(data, (left) => joinLimits(left, tools, namesOf)),
  },
  after_model: {
    rules: { response: required(response), tokens: object },
    fields: (data) => {
      const { response: shown, ...conversation } = { ...conversationOf(data), response: responseOf(data) };
      return {
        data: { ...data, response: shownResponse(shown) },
        conversation: () => ({ ...conversation, response: shown }),
      };
    },
    rewrite: (data, effects) => ({ ...data, response: shownResponse(rewriteResponse(responseOf(data), effects)) }),
  },
  before_tool: {
    rules: { tool_name: required(fullText) },
    fields: (data) => ({ data: { ...data, ...callData(callOf(data)) } }),
    rewrite: (data, effects) => ({ ...data, args: rewriteInput(data.args, effects) }),
  },
  after_tool: {
    rules: { tool_name: required(fullText), result: required(given) },
    fields: (data) => {
      const result = resultOf(data);
      return { data: { ...data, ...callData(callOf(data)), result: shownResult(result) }, result };
    },
    rewrite: (data, effects) => ({ ...data, result: shownResult(rewriteResult(resultOf(data), effects)) }),
  },
  after_agent: {
    rules: { response: required(text), tool_calls: array },
    fields: ({ tool_calls = [], ...data }) => ({ data: { ...data, tool_calls } }),
  },
  session_end: {
    rules: { session_id: required(fullText), messages, reason: text },
    source: ({ reason = 'other' }) => reason,
  },
  notification: {
    rules: { message: required(text), notification_type: text },
    source: ({ notification_type = 'permission_prompt' }) => notification_type,
  },
  before_subagent: {
    rules: { agent: required(text), agent_id: text },
    source: ({ agent }) => agent,
  },
  after_subagent: {
    rules: { agent: required(text), response: required(text), agent_id: text },
    source: ({ agent }) => agent,
  },
  before_compaction: {
    rules: { trigger: text },
    source: ({ trigger = 'auto' }) => trigger,
  },
  after_compaction: {
    rules: { trigger: text },
    source: ({ trigger = 'auto' }) => trigger,
  },
  after_tools: { rules: { tool_calls: required(listOf(object)) } },
  permission_request: PERMISSION,
  permission_denied: PERMISSION,
  run_failed: { rules: { error: required(text) } },
};

/** Throws a `HookEventInvalidError` if the event is unknown, or if a field is missing or invalid. */
function validate(event: HookEvent, data: PlainData): void {
  if (!isHookEvent(event))
    throw new HookEventInvalidError(String(event), [unknownName('event', String(event), HOOK_EVENTS)]);
  if (!isObject(data)) throw new HookEventInvalidError(event, ['`data` must be an object']);
  const problems = memberProblems(data, { session_id: fullText, ...EVENTS[event].rules });
  if (problems.length > 0) throw new HookEventInvalidError(event, problems);
}

/** Returns the context of an event. Throws a `HookEventInvalidError` if the event or its data is invalid. */
export function plainContext(event: HookEvent, data: PlainData, signal?: AbortSignal): HookEventContext<PlainData> {
  validate(event, data);
  const { fields, rewrite, source } = EVENTS[event];
  const { tool_name: tool, args } = data;
  const isOfTool = typeof tool === 'string' && isToolEvent(event);
  return {
    event,
    sessionId: typeof data.session_id === 'string' ? data.session_id : crypto.randomUUID(),
    value: data,
    describe: (value) => ({ data: value, ...fields?.(value) }),
    rewrite,
    tool: isOfTool ? tool : undefined,
    args: isOfTool ? args : undefined,
    isError: event === 'after_tool' ? resultOf(data).isError === true : undefined,
    source: source && String(source(data)),
    signal,
  };
}

/** Returns the result of an event with its final data. */
export function endPlainEvent(
  event: HookEvent,
  outcome: HookEventResult<PlainData>,
  namesOf: NamesOf,
): HookEventResult<PlainData> {
  return { ...outcome, value: EVENTS[event].end?.(outcome.value, outcome, namesOf) ?? outcome.value };
}

function isConversation(value: unknown): boolean {
  try {
    checkMessages(value as readonly Message[]);
    return true;
  } catch {
    return false;
  }
}

function conversationOf({ messages: sent = [], model = '' }: PlainData) {
  return { messages: sent as readonly Message[], model: String(model) };
}

function withTools(
  data: PlainData,
  limit: (tools: readonly { readonly name: string }[]) => readonly { readonly name: string }[],
): PlainData {
  const left = limit((data.available_tools as readonly string[]).map((name) => ({ name })));
  return { ...data, available_tools: left.map(({ name }) => name) };
}

function callOf({ tool_use_id: id, tool_name: name, args }: PlainData) {
  return { id: typeof id === 'string' ? id : '', name: String(name), args };
}

/** Returns a tool result. An object with `content` is a result already; any other value becomes the content. */
function resultOf({ result }: PlainData): ToolResult {
  if (typeof result === 'string') return { content: result };
  if (!isObject(result) || !isContent(result.content))
    return { content: jsonText(result), structured: result as never };
  const { content, structured, is_error: isError } = result;
  return { content, structured: structured as never, isError: isError === true };
}

function contentOf({ text: shown, content }: PlainData): readonly AssistantPart[] | undefined {
  if (Array.isArray(content)) return content.every((part) => problemOfPart(part) === undefined) ? content : undefined;
  return typeof shown === 'string' ? [{ type: 'text', text: shown }] : undefined;
}

function responseOf({ response: shown, tokens }: PlainData): ModelResponse {
  const given = isObject(shown) ? shown : { text: shown };
  const { input = 0, output = 0, total = 0 } = (tokens ?? {}) as Readonly<Record<string, number>>;
  return {
    content: contentOf(given) ?? [],
    finishReason: (given.finish_reason ?? 'stop') as FinishReason,
    usage: { inputTokens: input, outputTokens: output, totalTokens: total },
  };
}
