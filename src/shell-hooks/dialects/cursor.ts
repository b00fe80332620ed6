import { closeSync, constants, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isObject, type JsonValue } from '../../internal/json.js';
import { textOf as messageText } from '../../model/message.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import {
  type FinishedHook,
  failedWith,
  type HookEffects,
  type HookReading,
  NO_REASON,
  SILENT,
} from '../hook/effects.js';
import type { HookEvent } from '../hook/event.js';
import { malformed, problemOf } from '../hook/problem.js';
import { jsonText } from '../run/plain-json.js';
import { type Dialect, type DialectEvent, type DialectInputSource, namedEvent } from './dialect.js';
import type { JsonObject } from './json-object.js';
import { type FieldKind, findBadField, lastObjectOf, NO_BEHIND_TEXT, parseOutput, resultOf, textOf } from './output.js';
import {
  explainTimeout,
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  type Place,
  parseEvents,
  problemOfType,
  TOOL_EVENTS,
} from './parse-events.js';

/** An event of Cursor, with the fields that it has beside the common ones. */
interface CursorEvent extends DialectEvent {
  readonly input?: (source: DialectInputSource) => JsonMap;
}

/** By the reference at cursor.com/docs/hooks, version 1 of the file, as of September 2026. */
const EVENTS: Readonly<Record<string, CursorEvent>> = {
  sessionStart: { event: 'session_start', input: () => ({ is_background_agent: false, composer_mode: 'agent' }) },
  beforeSubmitPrompt: { event: 'before_agent', input: () => ({ attachments: [] }) },
  preToolUse: { event: 'before_tool' },
  beforeShellExecution: { event: 'before_tool', tools: 'Shell', subject: commandOf, input: shellInput },
  beforeMCPExecution: { event: 'before_tool', tools: 'mcp', input: serverInput },
  beforeReadFile: { event: 'before_tool', tools: 'Read', input: readInput },
  postToolUse: { event: 'after_tool', after: 'success', input: resultInput },
  postToolUseFailure: { event: 'after_tool', after: 'failure', input: failureInput },
  afterShellExecution: { event: 'after_tool', tools: 'Shell', subject: commandOf, input: shellInput },
  afterMCPExecution: { event: 'after_tool', tools: 'mcp', input: serverInput },
  afterFileEdit: { event: 'after_tool', after: 'success', tools: 'Write', input: editInput },
  stop: { event: 'after_agent', input: () => ({ status: 'completed' }) },
  afterAgentResponse: { event: 'after_agent', input: ({ fields }) => ({ text: fields.flat?.prompt_response }) },
  sessionEnd: { event: 'session_end', input: () => ({ reason: 'completed', final_status: 'completed' }) },
};

/** Hooks of Cursor. */
export const cursor: Dialect = {
  id: 'cursor',
  events: EVENTS,
  places: { user: ['.cursor/hooks.json'], workspace: ['.cursor/hooks.json'] },
  folders: { project: ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'], extension: ['CURSOR_PLUGIN_ROOT'] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  // cursor-agent 2026.09 takes comments out before it parses the file.
  hasComments: true,
  hasForeignTools: true,
  toolName: (name) => name.replace(/^mcp__.+?__/, 'MCP:'),
  matcher: (given) => `(?:${given})`,
  parse: parseCursor,
  input: inputOf,
  read: readCursor,
};

function parseCursor(document: JsonMap, source: HookSource): HookContent {
  const content = parseEvents(document, source, {
    events: EVENTS,
    other: {
      notices: ['preCompact', 'afterAgentThought', 'workspaceOpen', 'beforeTabFileRead', 'afterTabFileEdit'],
      gates: ['subagentStart', 'subagentStop'],
    },
    isGrouped: false,
    matched: TOOL_EVENTS,
    read: readEntry,
  });
  explainTimeout(content, source);
  return content;
}

function readEntry(entry: JsonMap, { event, theirs }: Place, source: HookSource): HookSettings | string {
  const problem = problemOfType(entry);
  if (problem !== undefined) return problem;
  const { command, timeout, failClosed, loop_limit: limit } = entry;
  if (limit !== undefined && event === 'after_agent') {
    const message = `\`loop_limit\` of a hook at ${theirs} is not read: it has the agent go on at most 8 times.`;
    reportOn(source, { level: 'warning', code: 'key-ignored', message });
  }
  // Hooks of the project run in its folder, those of the user where their file lies.
  const isOfUser = source.scope === 'user' && source.source !== undefined;
  return {
    command,
    shell: 'bash',
    ...(isOfUser && { cwd: dirname(source.source) }),
    ...(timeout !== undefined && { timeout: inMilliseconds(timeout) }),
    ...(failClosed === true && { onFailure: 'block' }),
  };
}

function inputOf(source: DialectInputSource): JsonMap {
  const { hook, sessionId, runId = sessionId, workspaceDir } = source;
  return {
    conversation_id: sessionId,
    generation_id: runId,
    workspace_roots: [workspaceDir],
    user_email: null,
    transcript_path: null,
    ...namedEvent(EVENTS, hook)?.input?.(source),
  };
}

function argsOf({ fields }: DialectInputSource): unknown {
  return fields.flat?.tool_input;
}

/** The first argument of these names that is a string. */
function argument(args: unknown, names: readonly string[]): string | undefined {
  const found = isObject(args) ? names.map((name) => args[name]).find((value) => typeof value === 'string') : undefined;
  return typeof found === 'string' ? found : undefined;
}

function commandOf(args: unknown): string | undefined {
  return argument(args, ['command', 'cmd', 'script']);
}

function pathOf(args: unknown): string {
  return argument(args, ['file_path', 'path', 'filePath', 'target_file', 'absolute_path', 'file']) ?? '';
}

function outputText({ fields: { result } }: DialectInputSource): string | undefined {
  if (result === undefined) return undefined;
  return typeof result.content === 'string' ? result.content : messageText({ role: 'user', content: result.content });
}

function shellInput(source: DialectInputSource): JsonMap {
  const args = source.redact(argsOf(source));
  const command = commandOf(args) ?? jsonText(args);
  return { command, output: outputText(source), sandbox: false };
}

function serverInput(source: DialectInputSource): JsonMap {
  const output = outputText(source);
  return {
    tool_name: source.toolName?.replace(/^MCP:/, ''),
    tool_input: jsonText(source.redact(argsOf(source))),
    ...(output !== undefined && { result_json: jsonText(source.redact(source.fields.result)) }),
  };
}

function readInput(source: DialectInputSource): JsonMap {
  const path = resolve(source.workspaceDir, pathOf(argsOf(source)));
  return { file_path: path, content: startOf(path), attachments: [] };
}

const MOST_CONTENT = 1024 * 1024;

/** The first MiB of a file; empty if it cannot be read. A pipe is not waited for. */
function startOf(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(MOST_CONTENT);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

function editInput(source: DialectInputSource): JsonMap {
  const args = argsOf(source);
  const { edits } = isObject(args) ? args : {};
  const before = argument(args, ['old_string', 'old_text', 'old_str']) ?? '';
  const after = argument(args, ['new_string', 'new_text', 'new_str', 'content', 'contents', 'text']) ?? '';
  return {
    file_path: resolve(source.workspaceDir, pathOf(args)),
    edits: Array.isArray(edits) ? edits : [{ old_string: before, new_string: after }],
  };
}

function resultInput(source: DialectInputSource): JsonMap {
  const { content, structured = content } = source.fields.result ?? {};
  return { tool_output: jsonText(source.redact(structured)) };
}

function failureInput(source: DialectInputSource): JsonMap {
  return { error_message: outputText(source), failure_type: 'error', is_interrupt: false };
}

const FIELDS: Readonly<Record<string, FieldKind>> = {
  ...{ permission: 'text', user_message: 'text', agent_message: 'text', userMessage: 'text', agentMessage: 'text' },
  ...{ additional_context: 'text', followup_message: 'text', updated_input: 'object' },
};
const PERMISSIONS: readonly unknown[] = ['allow', 'deny', 'ask', undefined, null];

/**
 * Reads a hook as Cursor does: exit code 2 blocks, another one but 0 is a failure, and output that is invalid blocks a
 * tool. A no stands whatever the exit code is.
 */
function readCursor({ hook, result }: FinishedHook): HookReading {
  const { event } = hook;
  const problem = problemOf(result);
  if (result.outcome === 'exited' && result.exitCode === 2) {
    return { ...SILENT, effects: refusal(event, textOf(result.stderr.trim()) ?? NO_REASON) };
  }
  const { output, problem: unread } = result.stdoutTruncated ? {} : parseOutput(result.stdout);
  const bad = unread ?? (output === undefined ? undefined : findBadOutput(output));
  if (output === undefined) {
    if (problem !== undefined) return failedWith({}, problem);
    return bad === undefined ? SILENT : readText({ hook, result }, bad);
  }
  const no = refusalOf(output, event);
  if (problem !== undefined) return failedWith(no, problem);
  if (bad !== undefined) return failedWith({ ...invalid(event), ...no }, malformed(bad));
  const ignored = output.env === undefined || output.env === null ? [] : ['env'];
  return { output, data: {}, effects: { ...effectsOf(output, hook), ...no }, ignored };
}

/** Text that is not JSON blocks a tool. Elsewhere nobody reads it, unless a refusal would get lost. */
function readText({ hook: { event }, result }: FinishedHook, bad: string): HookReading {
  if (event === 'before_tool') return failedWith(invalid(event), malformed(bad));
  const last = lastObjectOf(result.stdout);
  const saysNo = last !== undefined && Object.keys(refusalOf(last, event)).length > 0;
  return saysNo ? failedWith({}, malformed(NO_BEHIND_TEXT)) : SILENT;
}

function invalid(event: HookEvent): HookEffects {
  return event === 'before_tool' ? { cancel: 'its output is invalid' } : {};
}

function findBadOutput(output: JsonObject): string | undefined {
  const { permission } = output;
  return findBadField(output, FIELDS) ?? (PERMISSIONS.includes(permission) ? undefined : 'unknown `permission`');
}

function refusal(event: HookEvent, reason: string): HookEffects {
  return event === 'before_tool' || event === 'before_agent' ? { cancel: reason } : { userText: reason };
}

/** The refusal in an output. `allow` has no effect: no hook takes back what something else refuses. */
function refusalOf(output: JsonObject, event: HookEvent): HookEffects {
  // Version 1.7 documented these two in camelCase.
  const user = textOf(output.user_message) ?? textOf(output.userMessage);
  const agent = textOf(output.agent_message) ?? textOf(output.agentMessage);
  const shown = user === undefined ? {} : { userText: user };
  const isRefused = output.permission === 'deny' || output.continue === false;
  if (isRefused) return { ...refusal(event, agent ?? user ?? NO_REASON), ...shown };
  return output.permission === 'ask' && event === 'before_tool' ? { ask: user ?? agent ?? NO_REASON } : {};
}

/** The other effects of an output. */
function effectsOf(output: JsonObject, { event, dialectEvent }: FinishedHook['hook']): HookEffects {
  const { updated_input: input, updated_mcp_tool_output: updated } = output;
  const context = textOf(output.additional_context);
  const again = dialectEvent === 'stop' ? textOf(output.followup_message) : undefined;
  const changesInput = dialectEvent === 'preToolUse' && isObject(input);
  const changesResult = event === 'after_tool' && updated !== undefined && updated !== null;
  return {
    ...(changesInput && { input: input as JsonObject }),
    ...(changesResult && { result: resultOf(updated as JsonValue) }),
    ...(context !== undefined && { modelTexts: [context] }),
    ...(again !== undefined && { again }),
  };
}
