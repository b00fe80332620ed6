import { isObject } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import type { ModelResponse, Usage } from '../../model/model.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import type { EventFields, HookEventContext, Subagent, TranscriptMessages } from '../hook/event-context.js';

/** A tool call, as events describe it. */
export interface CallRecord {
  readonly id: string;
  readonly name: string;
  args: unknown;
}

/** Returns the session id of a run. A run without a session uses its run id. */
function sessionIdOf(run: RunContext): string {
  return run.session?.id ?? run.id;
}

/** Returns the ids for an event of a run. */
export function idsOf(run: RunContext): Pick<HookEventContext, 'sessionId' | 'runId' | 'subagent'> {
  const { id, agent, parent } = run;
  return { sessionId: sessionIdOf(run), runId: id, subagent: parent && { agent, id } };
}

export function beforeAgentFields(run: RunContext, prompt: string): EventFields {
  const { agent, model, messages, instructions } = run;
  const context = {
    session_id: sessionIdOf(run),
    run_id: run.id,
    agent,
    model: model.id,
    instructions: instructions ?? null,
    messages,
  };
  return { data: { prompt, context }, flat: { prompt } };
}

/** A response, and the number of messages before it. The run adds the response to its messages after its hooks. */
export interface LatestResponse {
  readonly message: Message;
  readonly after: number;
}

/** The state of a run that decides which messages its transcript has. */
export interface TranscriptState {
  readonly response: LatestResponse | undefined;
  readonly isPast: boolean;
}

/**
 * Returns a function that returns the messages of the session, with the latest response. Returns undefined after a run
 * without a session, because its transcript is removed, and when the session has a later run.
 */
export function transcriptOf(run: RunContext, state: TranscriptState): () => TranscriptMessages | undefined {
  return () => {
    if (state.isPast) return undefined;
    const { response } = state;
    const { messages, session } = run;
    const isMissing = response !== undefined && messages.length <= response.after;
    const model = isMissing ? [...messages, response.message] : messages;
    return { model, people: session && (() => session.allMessages()) };
  };
}

/** Returns the messages of the model request, with the instructions first. */
export function sentMessages(run: RunContext, messages: readonly Message[]): readonly Message[] {
  return run.instructions === undefined ? messages : [{ role: 'system', content: run.instructions }, ...messages];
}

export function afterModelFields(run: RunContext, response: ModelResponse): EventFields {
  const conversation = () => ({ messages: sentMessages(run, run.messages), model: run.model.id, response });
  return { data: { response: shownResponse(response), tokens: tokensOf(response.usage) }, conversation };
}

/** Returns a model response in the format that hooks read. */
export function shownResponse({ content, finishReason }: ModelResponse): object {
  const message: Message = { role: 'assistant', content };
  return {
    text: textOf(message),
    content,
    tool_calls: toolCallsOf(message).map(({ id, name, input }) => ({ id, name, args: input ?? null })),
    finish_reason: finishReason,
  };
}

function tokensOf(usage: Usage): object {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    total: usage.totalTokens,
    cached_input: usage.cachedInputTokens,
    reasoning: usage.reasoningTokens,
  };
}

export function beforeToolFields({ id, name, args }: CallRecord): EventFields {
  return {
    data: { tool_name: name, args: args ?? null, tool_use_id: id },
    flat: { tool_name: name, tool_input: args ?? null, tool_use_id: id },
  };
}

export function afterToolFields({ id, name, args }: CallRecord, result: ToolResult): EventFields {
  const { content, isError = false } = result;
  const shown = shownResult(result);
  const text = typeof content === 'string' ? content : textOf({ role: 'user', content });
  return {
    data: { tool_name: name, result: shown, args: args ?? null, tool_use_id: id },
    flat: {
      tool_name: name,
      tool_input: args ?? null,
      tool_response: shown,
      tool_use_id: id,
      error: isError ? text : undefined,
    },
    result,
  };
}

/** Returns a tool result in the format that hooks read. */
export function shownResult({ content, structured, isError = false }: ToolResult): object {
  return { content, structured, is_error: isError };
}

/** The prompt and the tool calls that led to an answer. */
export interface AnswerOrigin {
  readonly prompt: string;
  readonly calls: readonly CallRecord[];
  /** Number of turns that hooks added by refusing an answer. */
  readonly continued: number;
}

export function afterAgentFields(response: string, { prompt, calls, continued }: AnswerOrigin): EventFields {
  return {
    data: { response, tool_calls: calls.map(({ id, name, args }) => ({ id, name, args: args ?? null })) },
    flat: {
      prompt,
      prompt_response: response,
      last_assistant_message: response,
      stop_hook_active: continued > 0,
      loop_count: continued,
    },
  };
}

/** The `notification_type` of a question for approval. */
export const APPROVAL = 'permission_prompt';

/** Returns the input fields that name a sub-agent, with the names of Claude Code. */
export function subagentFields({ agent, id }: Subagent): Readonly<Record<string, unknown>> {
  return { agent_id: id, agent_type: agent };
}

/** Returns the input fields of `after_subagent`, with the names of Claude Code. */
export function endedSubagentFields(subagent: Subagent, response: string): Readonly<Record<string, unknown>> {
  return { ...subagentFields(subagent), last_assistant_message: response, stop_hook_active: false };
}

type CheckedTool = Pick<Tool, 'inputSchema' | 'check'>;

/**
 * Returns the arguments of a call as its tool gets them: with the defaults of the schema, and without arguments that the
 * tool does not get. Arguments that the schema names come first, because Cursor shows only one path or command.
 */
export function receivedArgs(tool: CheckedTool | undefined, args: unknown): unknown {
  const properties = tool?.inputSchema.properties;
  if (tool === undefined || !isObject(args) || !isObject(properties) || Object.keys(properties).length === 0)
    return args;
  const named = Object.entries(properties).flatMap(([name, schema]) => {
    if (Object.hasOwn(args, name)) return [[name, args[name]]];
    const { default: value } = isObject(schema) ? schema : {};
    return value === undefined ? [] : [[name, value]];
  });
  const others = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
  const got = others.length === 0 ? {} : checked(tool, args);
  const kept = others.filter((name) => Object.hasOwn(got, name)).map((name) => [name, args[name]]);
  return Object.fromEntries([...named, ...kept]);
}

/** Returns the arguments after the check of the tool, or the given ones if the result is not known now. */
function checked(tool: CheckedTool, args: object): object {
  if (tool.inputSchema.additionalProperties === false) return {};
  try {
    const result = tool.check(args);
    return !isPromise(result) && result.issues === undefined && isObject(result.value) ? result.value : args;
  } catch {
    return args;
  }
}
