import { closeSync, constants, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isObject, type JsonObject } from '../../internal/json.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookEffects } from '../hook/effects.js';
import { jsonText } from '../run/plain-json.js';
import { type Dialect, type DialectEvent, type DialectInputSource, namedEvent, resultText } from './dialect.js';
import { type OutputRules, readOutput, reasonOf, resultOf, textOf } from './output.js';
import {
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  type Place,
  parseEvents,
  problemOfType,
  TOOL_EVENTS,
} from './parse-events.js';

/** An event of Cursor and its additional input fields. */
interface CursorEvent extends DialectEvent {
  readonly input?: (source: DialectInputSource) => JsonMap;
}

/** Events of the reference at cursor.com/docs/hooks, file version 1, as of September 2026. */
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
  // cursor-agent 2026.09 removes comments before it parses the file.
  hasComments: true,
  hasForeignTools: true,
  toolFields: { Shell: ['command'] },
  toolName: (name) => name.replace(/^mcp__.+?__/, 'MCP:'),
  matcher: (given) => `(?:${given})`,
  parse: parseCursor,
  input: inputOf,
  read: (run) => readOutput(run, RULES),
};

function parseCursor(document: JsonMap, source: HookSource): HookContent {
  return parseEvents(document, source, {
    events: EVENTS,
    other: {
      notices: ['preCompact', 'afterAgentThought', 'workspaceOpen', 'beforeTabFileRead', 'afterTabFileEdit'],
      gates: ['subagentStart', 'subagentStop'],
    },
    isGrouped: false,
    matched: TOOL_EVENTS,
    hasDefaultTimeout: true,
    read: readEntry,
  });
}

function readEntry(entry: JsonMap, { event, eventName }: Place, source: HookSource): HookSettings | string {
  const problem = problemOfType(entry);
  if (problem !== undefined) return problem;
  const { command, timeout, failClosed, loop_limit: limit } = entry;
  if (limit !== undefined && event === 'after_agent') {
    const message = `\`loop_limit\` of a hook at ${eventName} is ignored: hooks can make the agent continue at most 8 times.`;
    reportOn(source, { level: 'warning', code: 'key-ignored', message });
  }
  // A project hook runs in the workspace. A user hook runs in the directory of its hook file.
  const isOfUser = source.scope === 'user' && source.source !== undefined;
  return {
    command,
    shell: 'bash',
    cwd: isOfUser ? dirname(source.source) : undefined,
    timeout: inMilliseconds(timeout),
    onFailure: failClosed === true ? 'block' : undefined,
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

/** Returns the first argument with one of these names that is a string. The arguments of the schema come first. */
function argument(args: unknown, names: readonly string[]): string | undefined {
  const familiar = isObject(args) ? Object.entries(args).filter(([name]) => names.includes(name)) : [];
  const found = familiar.map(([, value]) => value).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : undefined;
}

function commandOf(args: unknown): string | undefined {
  return argument(args, ['command', 'cmd', 'script']);
}

function pathOf(args: unknown): string {
  return argument(args, ['file_path', 'path', 'filePath', 'target_file', 'absolute_path', 'file']) ?? '';
}

function shellInput(source: DialectInputSource): JsonMap {
  const args = source.redact(argsOf(source));
  const command = commandOf(args) ?? jsonText(args);
  return { command, output: resultText(source), sandbox: false };
}

function serverInput(source: DialectInputSource): JsonMap {
  const output = resultText(source);
  return {
    tool_name: source.toolName?.replace(/^MCP:/, ''),
    tool_input: jsonText(source.redact(argsOf(source))),
    result_json: output === undefined ? undefined : jsonText(source.redact(source.fields.result)),
  };
}

function readInput(source: DialectInputSource): JsonMap {
  const path = resolve(source.workspaceDir, pathOf(argsOf(source)));
  return { file_path: path, content: startOf(path), attachments: [] };
}

const MOST_CONTENT = 1024 * 1024;

/** Returns the first MiB of a file; empty if the file cannot be read. Does not wait for a named pipe. */
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
  return { error_message: resultText(source), failure_type: 'error', is_interrupt: false };
}

/**
 * Output rules of Cursor. Exit code 2 refuses; any other exit code except 0 is a failure. Invalid output refuses a tool
 * call.
 */
const RULES: OutputRules = {
  fields: {
    permission: ['allow', 'deny', 'ask'],
    updated_input: 'object',
    user_message: 'text',
    agent_message: 'text',
    userMessage: 'text',
    agentMessage: 'text',
    additional_context: 'text',
    followup_message: 'text',
  },
  exitCode2: ({ hook }, reason) => effectsOfRefusal(hook.event, reason),
  refusal: refusalOf,
  effects: effectsOf,
  text: ({ hook }) => (hook.event === 'before_tool' ? undefined : {}),
  failure: ({ kind }, { hook }) =>
    kind === 'malformed' && hook.event === 'before_tool' ? { cancel: 'its output is invalid' } : {},
  read: readFields,
};

const COMMON_FIELDS = [
  'continue',
  'permission',
  'additional_context',
  'user_message',
  'agent_message',
  'userMessage',
  'agentMessage',
];

function readFields({ event, dialectEvent }: ShellHook): readonly string[] {
  return [
    ...COMMON_FIELDS,
    ...(dialectEvent === 'preToolUse' ? ['updated_input'] : []),
    ...(event === 'after_tool' ? ['updated_mcp_tool_output'] : []),
    ...(dialectEvent === 'stop' ? ['followup_message'] : []),
  ];
}

function effectsOfRefusal(event: HookEvent, reason: string): HookEffects {
  return event === 'before_tool' || event === 'before_agent' ? { cancel: reason } : { userText: reason };
}

/** Returns the refusal in an output. `allow` has no effect, because it must not override a refusal. */
function refusalOf(output: JsonObject, { hook: { event } }: FinishedHook): HookEffects {
  // Cursor 1.7 documented its messages in camelCase.
  const user = textOf(output.user_message) ?? textOf(output.userMessage);
  const isRefused = output.permission === 'deny' || output.continue === false;
  if (isRefused) {
    const effects = effectsOfRefusal(event, reasonOf(output, 'agent_message', 'agentMessage'));
    return { ...effects, userText: user ?? effects.userText };
  }
  if (output.permission !== 'ask' || event !== 'before_tool') return {};
  return { ask: reasonOf(output, 'user_message', 'userMessage') };
}

function effectsOf(output: JsonObject, { hook }: FinishedHook, refusal: HookEffects): HookEffects {
  const { event, dialectEvent } = hook;
  const { updated_input: input, updated_mcp_tool_output: updated } = output;
  const context = textOf(output.additional_context);
  const changesInput = dialectEvent === 'preToolUse' && isObject(input);
  const changesResult = event === 'after_tool' && updated !== undefined && updated !== null;
  return {
    input: changesInput ? (input as JsonObject) : undefined,
    result: changesResult ? resultOf(updated) : undefined,
    modelTexts: context === undefined ? undefined : [context],
    again: dialectEvent === 'stop' ? textOf(output.followup_message) : undefined,
    ...refusal,
  };
}
