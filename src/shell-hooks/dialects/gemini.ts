import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { readJson } from '../../internal/read-json.js';
import { checkMessages } from '../../model/check-messages.js';
import { type AssistantPart, type Message, textOf as messageText } from '../../model/message.js';
import type { ModelResponse, ModelSettings } from '../../model/model.js';
import { portable } from '../files/portable-command.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookEffects, RequestChange } from '../hook/effects.js';
import type { HookEvent } from '../hook/event.js';
import { problemOfEntry } from './claude.js';
import { type Dialect, type DialectInputSource, resultText, sessionVariable } from './dialect.js';
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
    ...(args !== undefined && { args }),
    ...(timeout !== undefined && { timeout }),
    ...(onFailure !== undefined && { onFailure }),
    ...(isObject(env) && { env }),
  };
}

/** Returns the conversation and the tool result in the format of Gemini CLI. */
function inputOf(source: DialectInputSource): JsonMap {
  const { conversation, result } = source.fields;
  if (conversation !== undefined) {
    const { messages, model, response } = conversation();
    return {
      llm_request: toGeminiRequest(messages, model),
      ...(response !== undefined && { llm_response: toGeminiResponse(response) }),
    };
  }
  if (result === undefined) return {};
  const { content, structured, isError = false } = result;
  const text = resultText(source);
  const shown = { content, structured, is_error: isError, llmContent: text, returnDisplay: text };
  return { tool_response: { ...shown, ...(isError && { error: text }) } };
}

/** Output rules of Gemini CLI. Output that is not JSON is a message for the user. */
const RULES: OutputRules = {
  fields: {
    ...{ decision: 'text', reason: 'text', stopReason: 'text', systemMessage: 'text' },
    hookSpecificOutput: {
      ...{ additionalContext: 'text', tool_input: 'object', tool_output: 'text', toolConfig: 'object' },
      ...{ llm_request: 'object', llm_response: 'object' },
    },
  },
  textOf: outputText,
  exitCode2: ({ hook }, reason) => refusal(hook.event, reason),
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

function refusal(event: HookEvent, reason: string): HookEffects {
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
  const stops = output.continue === false && !UNSTOPPABLE.includes(event);
  return {
    ...((decision === 'deny' || decision === 'block') && refusal(event, reason)),
    ...(decision === 'ask' && event === 'before_tool' && { ask: reason }),
    ...(stops && { stop: reasonOf(output, 'stopReason') }),
  };
}

function effectsOf(output: JsonObject, { hook }: FinishedHook, no: HookEffects): HookEffects {
  const specific = specificOf(output);
  const context = textOf(specific.additionalContext);
  const user = textOf(output.systemMessage);
  return {
    ...specificEffects(specific, hook),
    ...(context !== undefined && { modelTexts: [context] }),
    ...(user !== undefined && { userText: user }),
    ...no,
  };
}

function specificEffects(specific: JsonObject, { event, extension }: ShellHook): HookEffects {
  const { tool_input: input, tool_output: output, llm_request: request, llm_response: response, toolConfig } = specific;
  if (event === 'before_tool') return isObject(input) ? { inputChanges: input as JsonObject } : {};
  if (event === 'after_tool') return typeof output === 'string' ? { result: { content: output } } : {};
  if (event === 'before_tool_selection')
    return isObject(toolConfig) ? limitOf(toolConfig as JsonObject, extension) : {};
  if (event !== 'before_model' && event !== 'after_model') return {};
  const text = isObject(response) ? textOfResponse(response as JsonObject) : undefined;
  return {
    ...(text !== undefined && { response: (parts) => withText(parts, text) }),
    ...(event === 'before_model' && isObject(request) && { request: requestChange(request as JsonObject) }),
  };
}

const MODES: Readonly<Record<string, 'none' | 'any' | 'auto'>> = { NONE: 'none', ANY: 'any', AUTO: 'auto' };

function limitOf({ mode, allowedFunctionNames: names }: JsonObject, extension: string | undefined): HookEffects {
  const known = MODES[textOf(mode)?.toUpperCase() ?? 'AUTO'] ?? 'auto';
  const listed = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  const limit = { names: listed.length > 0 ? listed : undefined, mode: known, joins: true };
  return { tools: { ...limit, dialect: 'gemini', extension } };
}

const ROLES = { user: 'user', tool: 'user', assistant: 'model', system: 'system' } as const;

/** Returns a model request as Gemini CLI shows it to hooks. Each message contains only its text. */
function toGeminiRequest(messages: readonly Message[], model: string): object {
  const shown = messages.map((message) => ({ role: ROLES[message.role], content: messageText(message) }));
  return { model, messages: shown, config: {} };
}

/** Returns a model response as Gemini CLI shows it to hooks. */
function toGeminiResponse({ content, finishReason, usage }: ModelResponse): object {
  const text = messageText({ role: 'assistant', content });
  return {
    text,
    candidates: [{ content: { role: 'model', parts: [text] }, finishReason: finishReason.toUpperCase() }],
    usageMetadata: {
      promptTokenCount: usage.inputTokens,
      candidatesTokenCount: usage.outputTokens,
      totalTokenCount: usage.totalTokens,
    },
  };
}

function withText(parts: readonly AssistantPart[], text: string): readonly AssistantPart[] {
  if (parts.length > 0 && messageText({ role: 'assistant', content: parts }) === text) return parts;
  return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
}

/** Returns the text of a response that a hook wrote; undefined if the response has no parts. */
function textOfResponse({ text, candidates }: JsonObject): string | undefined {
  if (typeof text === 'string') return text;
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  const content = isObject(candidate) ? candidate.content : undefined;
  const parts: readonly JsonValue[] = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  if (parts.length === 0) return undefined;
  return parts.map(textOfPart).join('');
}

/** Returns the text of a part, or an empty string for a part without text. */
function textOfPart(part: JsonValue): string {
  const text = isObject(part) ? part.text : part;
  return typeof text === 'string' ? text : '';
}

/**
 * Returns the changes of a hook to a model request. A message that the hook did not change keeps its non-text parts.
 */
function requestChange({ model, messages, config }: JsonObject): RequestChange {
  return {
    model: textOf(model),
    settings: isObject(config) ? settingsOf(config as JsonObject) : {},
    change: (before) => (Array.isArray(messages) ? changeMessages(before, messages as JsonObject[]) : before),
  };
}

function changeMessages(before: readonly Message[], given: readonly JsonObject[]): readonly Message[] {
  const left = [...before];
  const messages = given.map((message): Message => {
    const content = contentOf(message);
    const same = left.findIndex((other) => ROLES[other.role] === message.role && messageText(other) === content);
    if (same >= 0) return left.splice(0, same + 1).at(-1) as Message;
    if (message.role === 'model') return { role: 'assistant', content: [{ type: 'text', text: content }] };
    return { role: message.role === 'system' ? 'system' : 'user', content };
  });
  checkMessages(messages);
  return messages;
}

function contentOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOfPart).join('') : '';
}

const NUMBERS = { temperature: 'temperature', topP: 'topP', maxOutputTokens: 'maxOutputTokens' } as const;

function settingsOf(config: JsonObject): ModelSettings {
  const numbers = Object.entries(NUMBERS).filter(([name]) => typeof config[name] === 'number');
  const { stopSequences } = config;
  return {
    ...Object.fromEntries(numbers.map(([name, setting]) => [setting, config[name]])),
    ...(Array.isArray(stopSequences) && { stopSequences: stopSequences.filter((text) => typeof text === 'string') }),
  };
}
