import { isObject } from '../../internal/json.js';
import { contentText } from '../../model/message.js';
import type { HookEvent } from '../../programs/hook-event.js';
import type { ToolResult } from '../../tools/tool.js';
import { dialectOf, eventNameOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects } from '../hook/effects.js';
import type { EventFields, HookMatchInput } from '../hook/event-context.js';
import { shownTo } from '../hook/plain-json.js';
import type { ShellHooksSettings } from '../options.js';
import { shownArgs, shownToolName } from './matching.js';
import type { EventProgress } from './outcome.js';

/** Values for `hookInput` that come neither from the hook nor from earlier hooks. */
interface HookInputSource extends ShellHooksSettings {
  readonly fields: EventFields;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Path of the session's transcript; empty without one. */
  readonly transcriptPath: string;
}

/**
 * Returns the JSON document for the standard input of a hook. The document contains the event under `data`, the data of
 * earlier hooks, and fields that hooks of other programs expect.
 */
export function hookInput<Value>(hook: ShellHook, progress: EventProgress<Value>, source: HookInputSource): object {
  const { workspaceDir, toolNames, sensitive, transcriptPath, now } = source;
  const { sessionId, runId, subagent, tool, event } = progress.context;
  const hide = (value: unknown) => shownTo(hook, value, sensitive);
  const { conversation, ...given } = source.fields;
  const { data, flat, result } = hide({ ...given, flat: flatFields(progress.context, given) }) as EventFields;
  const args = flat?.tool_input;
  const fields = { data, flat: { ...flat }, result, conversation };
  // Redacted under the names of the program too, because a renamed argument has both.
  if (tool !== undefined && args !== undefined)
    fields.flat.tool_input = hide(shownArgs(hook, { tool, args }, toolNames));
  const toolName = tool === undefined ? undefined : shownToolName(hook, tool, toolNames);
  const own = dialectOf(hook.dialect).input({ hook, fields, toolName, sessionId, runId, workspaceDir, now });
  return {
    ...(subagent && { agent_id: subagent.id, agent_type: subagent.agent }),
    ...fields.flat,
    data,
    tool_name: toolName,
    event,
    hook_event_name: eventNameOf(hook),
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd: workspaceDir,
    permission_mode: 'default',
    timestamp: new Date(now).toISOString(),
    hook_data: progress.data,
    hook_outputs: progress.outputs,
    ...(hide(own) as object),
  };
}

/** Returns the fields of an event outside of `data`, under the names that other programs use. */
function flatFields({ event, source }: HookMatchInput, fields: EventFields): EventFields['flat'] {
  return { ...FLAT[event]?.(fields, source), ...fields.flat };
}

type Fields = Readonly<Record<string, unknown>>;

const FLAT: Readonly<Partial<Record<HookEvent, (event: EventFields, source: string | undefined) => Fields>>> = {
  session_start: (_event, source) => ({ source }),
  session_end: (_event, reason) => ({ reason }),
  before_agent: ({ data: { prompt } }) => ({ prompt }),
  before_tool: callFields,
  after_tool: ({ data, result }) => ({
    ...callFields({ data }),
    tool_response: data.result,
    error: result?.isError ? contentText(result.content) : undefined,
  }),
  after_tools: ({ data: { tool_calls } }) => ({
    tool_calls: (tool_calls as readonly Fields[]).map(({ id, name, args }) => ({
      tool_name: name,
      tool_input: args,
      tool_use_id: id,
    })),
  }),
  after_agent: ({ data: { prompt = '', response } }) => ({
    prompt,
    prompt_response: response,
    last_assistant_message: response,
    stop_hook_active: false,
    loop_count: 0,
  }),
  notification: ({ data: { message, title } }, type) => ({ message, title, notification_type: type }),
  before_subagent: ({ data }) => subagentFields(data),
  after_subagent: ({ data }) => ({
    ...subagentFields(data),
    last_assistant_message: data.response,
    stop_hook_active: false,
  }),
  before_compaction: (_event, trigger) => ({ trigger, custom_instructions: '' }),
  after_compaction: (_event, trigger) => ({ trigger }),
  permission_request: permissionFields,
  permission_denied: permissionFields,
  run_failed: ({ data: { error } }) => ({ error }),
};

function callFields({ data: { tool_name, args, tool_use_id } }: EventFields): Fields {
  return { tool_name, tool_input: args, tool_use_id };
}

function permissionFields({ data }: EventFields): Fields {
  return { ...callFields({ data }), reason: data.reason };
}

/** The names of Claude Code. */
function subagentFields({ agent, agent_id: id = '' }: Fields): Fields {
  return { agent_id: id, agent_type: agent };
}

/** A tool call, as events describe it. */
export interface CallRecord {
  readonly id: string;
  readonly name: string;
  args: unknown;
}

/** Returns the data of a tool call. */
export function callData({ id, name, args }: CallRecord) {
  return { tool_name: name, args: args ?? null, tool_use_id: id };
}

/** Returns the arguments of a tool call after the changes of a hook. */
export function rewriteInput(input: unknown, { input: whole, inputChanges }: HookEffects): unknown {
  if (whole !== undefined) return whole;
  if (inputChanges === undefined) return input;
  return isObject(input) ? { ...input, ...inputChanges } : { ...inputChanges };
}

/** Returns a tool result in the format that hooks read. */
export function shownResult({ content, structured, isError = false }: ToolResult): object {
  return { content, structured, is_error: isError };
}

/** Returns a tool result after the changes of a hook. A failed result stays failed. */
export function rewriteResult(value: ToolResult, { result }: HookEffects): ToolResult {
  if (result === undefined) return value;
  return value.isError ? { ...result, isError: true } : result;
}
