import { isObject, type JsonObject } from '../../internal/json.js';
import { readJson } from '../../internal/read-json.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { portable } from '../files/portable-command.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookEffects } from '../hook/effects.js';
import { problemOfEntry } from './claude.js';
import { type Dialect, type DialectInputSource, resultText, sessionVariable } from './dialect.js';
import { requestChange, responseChange, toGeminiRequest, toGeminiResponse } from './gemini-conversation.js';
import { type OutputRules, readOutput, reasonOf, specificOf, textOf } from './output.js';
import { type HookSettings, type JsonMap, parseEvents } from './parse-events.js';

/** Hooks of Gemini CLI 0.2x, by its documentation and source as of November 2026. */
export const gemini: Dialect = {
  id: 'gemini',
  events: {
    SessionStart: { event: 'session_start' },
    BeforeAgent: { event: 'before_agent' },
    BeforeModel: { event: 'before_model' },
    BeforeToolSelection: { event: 'before_tool_selection' },
    AfterModel: { event: 'after_model' },
    BeforeTool: { event: 'before_tool' },
    AfterTool: { event: 'after_tool' },
    AfterAgent: { event: 'after_agent' },
    SessionEnd: { event: 'session_end' },
    Notification: { event: 'notification' },
    PreCompress: { event: 'before_compaction' },
  },
  places: { user: ['.gemini/settings.json'], workspace: ['.gemini/settings.json'] },
  folders: { project: ['GEMINI_PROJECT_DIR', 'GEMINI_CWD', 'CLAUDE_PROJECT_DIR', 'workspacePath'], extension: [] },
  constants: { pathSeparator: '/' },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasComments: true,
  hasForeignTools: true,
  toolFields: {
    run_shell_command: ['command'],
    read_file: ['file_path'],
    write_file: ['file_path', 'content'],
    replace: ['file_path', 'old_string', 'new_string'],
    list_directory: ['dir_path'],
    glob: ['pattern'],
    grep_search: ['pattern'],
    web_fetch: ['prompt'],
    google_web_search: ['query'],
  },
  matchesSources: true,
  runsOnce: true,
  toolName: (name) => (name.startsWith('mcp__') ? name.replaceAll('__', '_') : name),
  matcher: patternOf,
  parse: parseGemini,
  input: inputOf,
  variables: (_hook, { sessionId }) => sessionVariable('GEMINI_SESSION_ID', sessionId),
  read: (run) => readOutput(run, RULES),
};

/** Translates a matcher. Every matcher is a regular expression; an invalid one is the exact name of a tool. */
function patternOf(given: string): string {
  try {
    new RegExp(given);
    return `(?:${given})`;
  } catch {
    return `^(?:${given.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')})$`;
  }
}

function parseGemini(document: JsonMap, source: HookSource): HookContent {
  const content = parseEvents(document, source, {
    events: gemini.events,
    other: { notices: [], gates: [] },
    isGrouped: true,
    matched: ['session_start', 'before_tool', 'after_tool', 'session_end', 'notification', 'before_compaction'],
    read: (entry) => readEntry(entry, source),
  });
  if (content.hooks.some(({ event }) => event === 'after_model')) {
    const message = 'AfterModel hooks run once for each response here, not for each chunk.';
    reportOn(source, { level: 'info', code: 'after-model-once', message });
  }
  return content;
}

/** Reads one hook entry. Every command is a string for bash, and the time limit is in milliseconds. */
function readEntry(entry: JsonMap, source: HookSource): HookSettings | string {
  const problem = problemOfEntry(entry, source, 'CLAUDE_PLUGIN_DATA');
  if (problem !== undefined) return problem;
  const { command, args, timeout, onFailure, env } = entry;
  return {
    command: portable(command, 'gemini'),
    shell: 'bash',
    args,
    timeout,
    onFailure,
    env: isObject(env) ? env : undefined,
  };
}

/** Returns the conversation and the tool result in the format of Gemini CLI. */
function inputOf(source: DialectInputSource): JsonMap {
  const { conversation, result } = source.fields;
  if (conversation !== undefined) {
    const { messages, model, response } = conversation();
    return {
      llm_request: toGeminiRequest(messages, model),
      llm_response: response && toGeminiResponse(response),
    };
  }
  if (result === undefined) return {};
  const { content, structured, isError = false } = result;
  const text = resultText(source);
  return {
    tool_response: {
      content,
      structured,
      is_error: isError,
      llmContent: text,
      returnDisplay: text,
      error: isError ? text : undefined,
    },
  };
}

/** Output rules of Gemini CLI. Output that is not JSON is a message for the user. */
const RULES: OutputRules = {
  fields: {
    decision: 'text',
    reason: 'text',
    stopReason: 'text',
    systemMessage: 'text',
    hookSpecificOutput: {
      additionalContext: 'text',
      tool_input: 'object',
      tool_output: 'text',
      toolConfig: 'object',
      llm_request: 'object',
      llm_response: 'object',
    },
  },
  textOf: outputText,
  exitCode2: ({ hook }, reason) => effectsOfRefusal(hook.event, reason),
  refusal: refusalOf,
  effects: effectsOf,
  text: ({ result: { stdout } }) => (stdout.trim() === '' ? {} : { userText: stdout.trim() }),
  read: readFields,
};

const COMMON_FIELDS = ['decision', 'reason', 'systemMessage', 'hookSpecificOutput.additionalContext'];
const SPECIFIC_FIELDS: Readonly<Partial<Record<HookEvent, readonly string[]>>> = {
  before_model: ['hookSpecificOutput.llm_request', 'hookSpecificOutput.llm_response'],
  before_tool_selection: ['hookSpecificOutput.toolConfig'],
  after_model: ['hookSpecificOutput.llm_response'],
  before_tool: ['hookSpecificOutput.tool_input'],
  after_tool: ['hookSpecificOutput.tool_output'],
};

function readFields({ event }: ShellHook): readonly string[] {
  const stop = UNSTOPPABLE.includes(event) ? [] : ['continue', 'stopReason'];
  return [...COMMON_FIELDS, ...stop, ...(SPECIFIC_FIELDS[event] ?? [])];
}

/**
 * Returns the output. If standard output is empty, a JSON object on standard error is used. Other text on standard error
 * is a log.
 */
function outputText({ result: { stdout, stderr } }: FinishedHook): string {
  return stdout.trim() === '' ? stderr : unquoted(stdout);
}

/** Unwraps an output that is a JSON string with JSON inside. */
function unquoted(text: string): string {
  if (!text.trimStart().startsWith('"')) return text;
  const read = readJson(text);
  return 'value' in read ? String(read.value) : text;
}

function effectsOfRefusal(event: HookEvent, reason: string): HookEffects {
  if (event === 'after_agent') return { again: reason };
  if (event === 'after_tool') return { result: { content: reason, isError: true } };
  const isNotice = event.startsWith('session_') || event === 'notification' || event === 'before_compaction';
  if (isNotice || event === 'before_tool_selection') return { userText: reason };
  return { cancel: reason };
}

/** Events at which `continue: false` has no effect. */
const UNSTOPPABLE: readonly HookEvent[] = ['session_start', 'session_end', 'before_tool_selection'];

/** Returns the refusal in an output. */
function refusalOf(output: JsonObject, { hook: { event } }: FinishedHook): HookEffects {
  const decision = textOf(output.decision);
  const reason = reasonOf(output);
  const isRefused = decision === 'deny' || decision === 'block';
  const stops = output.continue === false && !UNSTOPPABLE.includes(event);
  return {
    ...(isRefused ? effectsOfRefusal(event, reason) : {}),
    ask: decision === 'ask' && event === 'before_tool' ? reason : undefined,
    stop: stops ? reasonOf(output, 'stopReason') : undefined,
  };
}

function effectsOf(output: JsonObject, { hook }: FinishedHook, refusal: HookEffects): HookEffects {
  const specific = specificOf(output);
  const context = textOf(specific.additionalContext);
  return {
    ...specificEffects(specific, hook),
    modelTexts: context === undefined ? undefined : [context],
    userText: textOf(output.systemMessage),
    ...refusal,
  };
}

function specificEffects(specific: JsonObject, { event, extension }: ShellHook): HookEffects {
  const { tool_input: input, tool_output: output, llm_request: request, llm_response: response, toolConfig } = specific;
  if (event === 'before_tool') return isObject(input) ? { inputChanges: input as JsonObject } : {};
  if (event === 'after_tool') return typeof output === 'string' ? { result: { content: output } } : {};
  if (event === 'before_tool_selection')
    return isObject(toolConfig) ? limitOf(toolConfig as JsonObject, extension) : {};
  if (event !== 'before_model' && event !== 'after_model') return {};
  const changesRequest = event === 'before_model' && isObject(request);
  return {
    response: isObject(response) ? responseChange(response as JsonObject) : undefined,
    request: changesRequest ? requestChange(request as JsonObject) : undefined,
  };
}

const MODES: Readonly<Record<string, 'none' | 'any' | 'auto'>> = { NONE: 'none', ANY: 'any', AUTO: 'auto' };

function limitOf({ mode, allowedFunctionNames: names }: JsonObject, extension: string | undefined): HookEffects {
  const known = MODES[textOf(mode)?.toUpperCase() ?? 'AUTO'] ?? 'auto';
  const listed = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  const limit = { names: listed.length > 0 ? listed : undefined, mode: known, joins: true };
  return { tools: { ...limit, dialect: 'gemini', extension } };
}
