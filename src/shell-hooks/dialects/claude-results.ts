import { isObject } from '../../internal/json.js';
import { contentText } from '../../model/message.js';
import type { JsonMap } from '../files/read-entry.js';
import type { EventFields } from '../hook/event-context.js';

/** A finished call of a tool of Claude Code. */
interface FinishedCall {
  /** Arguments of the call, as the hook reads them. */
  readonly args: JsonMap;
  /** Text of the result. */
  readonly text: string;
  readonly isError: boolean;
  /** Fields of a structured result. */
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

/** The fields of an event, and the name of its tool in Claude Code. */
interface NamedFields {
  readonly toolName?: string | undefined;
  readonly fields: EventFields;
}

/** Returns the result of a tool as Claude Code shows it to hooks. Fields of a structured result replace all others. */
export function toolResponse({ toolName = '', fields }: NamedFields): JsonMap | undefined {
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
