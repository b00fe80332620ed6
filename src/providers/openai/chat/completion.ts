import { unreadableBody } from '../../shared/error.js';
import { toProviderError } from '../../shared/failure.js';
import { hasFields, isObject, objectsIn, parseJson, textOr, type WireObject } from '../../shared/wire.js';

/**
 * Returns the JSON object of a completion. Parses a body that the client returned as a string, because its content type
 * was not JSON. Takes an error out of the array in which Google sends it.
 */
export function completionIn(body: unknown): WireObject {
  const parsed = typeof body === 'string' ? parseJson(body) : body;
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(first)) return first;
  throw unreadableBody('openai', body);
}

/**
 * Returns the answer among the choices of a completion: the first choice with index 0 or without an index. Adds the
 * tool calls of further choices with this index, because Copilot sends text and tool calls as two choices.
 */
export function choiceIn({ choices }: WireObject): WireObject | undefined {
  const only: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (isObject(only) && (only.index ?? 0) === 0) return only;
  const [first, ...others] = objectsIn(choices).filter(({ index }) => (index ?? 0) === 0);
  const calls = others.flatMap(({ message }) =>
    isObject(message) && contentText(message.content) === '' ? callsIn(message) : [],
  );
  if (calls.length === 0 || !isObject(first?.message)) return first;
  return { ...first, message: { ...first.message, tool_calls: [...callsIn(first.message), ...calls] } };
}

/** Throws if a completion or a chunk contains an error, next to its choices, inside a choice, or instead of choices. */
export function throwErrorIn(body: WireObject, choice: WireObject | undefined): void {
  if (Array.isArray(body.choices) && !body.error && !choice?.error && !body.x_groq) return;
  const isError = !Array.isArray(body.choices) && (body.object === 'error' || textOr(body.message) !== '');
  const error = [body.error, choice?.error, groqOf(body).error, isError && body].find(saysSomething);
  if (error) throw toProviderError('openai', { error });
}

/**
 * True if an error object has a field that is not empty. Some servers send an empty error object with every response.
 */
function saysSomething(error: unknown): boolean {
  return isObject(error) ? Object.values(error).some(Boolean) : Boolean(error);
}

/** Returns the text of a message. Its `content` is a string or an array of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => (part.type === 'text' ? textOr(part.text) : ''))
    .join('');
}

/** Returns the text of an answer that the model gave as audio. */
export function transcriptIn({ audio }: WireObject): string {
  return isObject(audio) ? textOr(audio.transcript) : '';
}

/**
 * Returns the tool calls of a message or a delta. Also accepts the deprecated field `function_call`, and a single
 * object in place of the array `tool_calls`.
 */
export function callsIn({ tool_calls: calls, function_call: call }: WireObject): readonly WireObject[] {
  const listed = isObject(calls) ? [calls] : objectsIn(calls);
  // Snowflake sends both fields in an answer without a call.
  const isEmpty = calls === null && isObject(call) && call.name === '';
  return listed.length === 0 && isObject(call) && !isEmpty ? [{ function: call }] : listed;
}

/** Returns the token counts of a completion or a chunk. */
export function usageIn(body: WireObject, choice: WireObject | undefined): WireObject | undefined {
  if (!body.usage && !choice?.usage && !body.x_groq) return undefined;
  return [body.usage, choice?.usage, groqOf(body).usage].find(hasFields);
}

function groqOf({ x_groq: fields }: WireObject): WireObject {
  return isObject(fields) ? fields : {};
}
