import { closeSync, constants, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { contentText } from '../../model/message.js';
import type { InputTable, InputValue, ToolTable } from '../../programs/hook-table.js';
import type { JsonMap } from '../files/read-entry.js';
import type { ShellHook } from '../hook/definition.js';
import type { EventFields } from '../hook/event-context.js';
import { jsonText } from '../hook/plain-json.js';
import { toGeminiRequest, toGeminiResponse } from './gemini-conversation.js';

/** Values from which a dialect builds the input of a hook. */
export interface DialectInputSource {
  readonly hook: ShellHook;
  /** The event, with sensitive fields redacted. */
  readonly fields: EventFields;
  /** Name of the tool in this dialect. Set only at tool events. */
  readonly toolName: string | undefined;
  readonly sessionId: string;
  /** Id of the run. Undefined for session events. */
  readonly runId: string | undefined;
  readonly workspaceDir: string;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

type Tools = Readonly<Record<string, ToolTable>>;

/** Returns the fields of a table with their values. */
export function inputFields(table: InputTable, source: DialectInputSource, tools: Tools): JsonMap {
  const fields = Object.entries(table).map(([name, value]) => [name, valueIn(value, source, tools)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function valueIn(value: InputTable[string], source: DialectInputSource, tools: Tools): unknown {
  if (isObject(value)) return inputFields(value as InputTable, source, tools);
  if (typeof value !== 'string' || !value.startsWith('$')) return value;
  return VALUES[value.slice(1) as InputValue](source, tools);
}

const VALUES: Readonly<Record<InputValue, (source: DialectInputSource, tools: Tools) => unknown>> = {
  tool: ({ toolName }) => toolName,
  alias: ({ toolName = '' }, tools) =>
    (Object.hasOwn(tools, toolName) ? tools[toolName]?.aliases?.[0] : undefined) ?? toolName,
  mcpTool: ({ toolName }) => toolName?.replace(/^MCP:/, ''),
  args: argsOf,
  argsJson: (source) => jsonText(argsOf(source) ?? {}),
  text: resultText,
  resultJson: ({ fields: { result } }) => jsonText(result),
  structuredJson: ({ fields }) => {
    const { content, structured = content } = fields.result ?? {};
    return jsonText(structured);
  },
  session: ({ sessionId }) => sessionId,
  run: ({ runId, sessionId }) => runId ?? sessionId,
  now: ({ now }) => now,
  workspaces: ({ workspaceDir }) => [workspaceDir],
  command: (source) => {
    const args = argsOf(source);
    return commandIn(args) ?? jsonText(args);
  },
  path: (source) => resolve(source.workspaceDir, pathIn(argsOf(source))),
  fileStart: (source) => startOf(resolve(source.workspaceDir, pathIn(argsOf(source)))),
  edits: editsOf,
  response: ({ fields }) => fields.flat?.prompt_response,
  claudeResult: toolResponse,
  geminiResult,
  geminiRequest: ({ fields: { conversation } }) => {
    if (conversation === undefined) return undefined;
    const { messages, model } = conversation();
    return toGeminiRequest(messages, model);
  },
  geminiResponse: ({ fields }) => {
    const response = fields.conversation?.().response;
    return response && toGeminiResponse(response);
  },
};

function argsOf({ fields }: DialectInputSource): unknown {
  return fields.flat?.tool_input;
}

function resultText({ fields: { result } }: DialectInputSource): string | undefined {
  return result && contentText(result.content);
}

/** Returns the first string argument with one of these names. `args` lists the arguments of the tool's schema first. */
function argument(args: unknown, names: readonly string[]): string | undefined {
  const familiar = isObject(args) ? Object.entries(args).filter(([name]) => names.includes(name)) : [];
  const found = familiar.map(([, value]) => value).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : undefined;
}

/** Returns the command line in the arguments of a call. */
export function commandIn(args: unknown): string | undefined {
  return argument(args, ['command', 'cmd', 'script']);
}

function pathIn(args: unknown): string {
  return argument(args, ['file_path', 'path', 'filePath', 'target_file', 'absolute_path', 'file']) ?? '';
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

function editsOf(source: DialectInputSource): unknown {
  const args = argsOf(source);
  const { edits } = isObject(args) ? args : {};
  const before = argument(args, ['old_string', 'old_text', 'old_str']) ?? '';
  const after = argument(args, ['new_string', 'new_text', 'new_str', 'content', 'contents', 'text']) ?? '';
  return Array.isArray(edits) ? edits : [{ old_string: before, new_string: after }];
}

function geminiResult(source: DialectInputSource): unknown {
  const { result } = source.fields;
  if (result === undefined) return undefined;
  const { content, structured, isError = false } = result;
  const text = resultText(source);
  return {
    content,
    structured,
    is_error: isError,
    llmContent: text,
    returnDisplay: text,
    error: isError ? text : undefined,
  };
}

interface FinishedCall {
  /** Arguments of the call, as the hook reads them. */
  readonly args: JsonMap;
  readonly text: string;
  readonly isError: boolean;
  readonly own: JsonMap;
}

/**
 * Fields of `tool_response` that can be computed from the call. Fields such as `structuredPatch` are missing, because
 * only the tool knows them.
 */
const FIELDS: Readonly<Record<string, (call: FinishedCall) => JsonMap>> = {
  Bash: bashFields,
  Read: ({ args, text, isError }) =>
    isError ? {} : { type: 'text', file: { filePath: args.file_path, content: text } },
  Write: fileFields,
  Edit: (call) => ({ ...fileFields(call), ...editFields(call.args) }),
  MultiEdit: fileFields,
  WebFetch: ({ args, text }) => ({ url: args.url, result: text }),
};

/** Returns the result of a tool as Claude Code shows it to hooks. Fields of a structured result replace all others. */
function toolResponse({ toolName = '', fields }: DialectInputSource): JsonMap | undefined {
  const { result, flat } = fields;
  if (result === undefined) return undefined;
  const { content, structured, isError = false } = result;
  const own = isObject(structured) ? structured : {};
  const args = isObject(flat?.tool_input) ? flat.tool_input : {};
  const call = { args, text: contentText(content), isError, own };
  const known = Object.hasOwn(FIELDS, toolName) ? FIELDS[toolName]?.(call) : undefined;
  return { content, structured, is_error: isError, ...known, ...own };
}

/** Keeps `stdout` and `stderr` of a structured result. Otherwise `isError` selects the stream that gets the text. */
function bashFields({ text, isError, own }: FinishedCall): JsonMap {
  const shown = 'stdout' in own || 'stderr' in own ? '' : text;
  return { stdout: isError ? '' : shown, stderr: isError ? shown : '', interrupted: false, isImage: false };
}

function fileFields({ args, isError }: FinishedCall): JsonMap {
  return { filePath: args.file_path, success: !isError };
}

function editFields({
  old_string: oldString,
  new_string: newString,
  replace_all: replaceAll = false,
}: JsonMap): JsonMap {
  return { oldString, newString, replaceAll };
}
