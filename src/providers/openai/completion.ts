import { unreadableBody } from '../shared/error.js';
import { toProviderError } from '../shared/failure.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from '../shared/wire.js';

/** A completion's JSON. The client gives it as text where the server did not call it JSON. Google puts an error into a list. */
export function completionIn(body: unknown): WireObject {
  const parsed = typeof body === 'string' ? parseJson(body) : body;
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(first)) return first;
  throw unreadableBody('openai', body);
}

/** The first of several choices, whichever comes first. Copilot says in one what it calls in another of the same index. */
export function choiceIn({ choices }: WireObject): WireObject | undefined {
  const [first, ...others] = objectsIn(choices).filter(({ index }) => (index ?? 0) === 0);
  const calls = others.flatMap(({ message }) =>
    isObject(message) && contentText(message.content) === '' ? callsIn(message) : [],
  );
  if (calls.length === 0 || !isObject(first?.message)) return first;
  return { ...first, message: { ...first.message, tool_calls: [...callsIn(first.message), ...calls] } };
}

/** Throws the error that a completion, or a chunk of one, bears: beside its choices, in one, or in place of all. */
export function throwErrorIn(body: WireObject, choice: WireObject | undefined): void {
  const isError = !Array.isArray(body.choices) && (body.object === 'error' || textOr(body.message) !== '');
  const error = [body.error, choice?.error, groqOf(body).error, isError && body].find(saysSomething);
  if (error) throw toProviderError('openai', { error });
}

/** Some servers put an error without a word beside each answer. */
function saysSomething(error: unknown): boolean {
  return isObject(error) ? Object.values(error).some(Boolean) : Boolean(error);
}

/** The text of the parts of a content that are text: a string, or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => (part.type === 'text' ? textOr(part.text) : ''))
    .join('');
}

/** What was said aloud, where a model speaks. */
export function transcriptIn({ audio }: WireObject): string {
  return isObject(audio) ? textOr(audio.transcript) : '';
}

/**
 * The tool calls of a message or a delta. The protocol once had one call a message, under a name of its own; some servers
 * send one where a list belongs.
 */
export function callsIn({ tool_calls: calls, function_call: call }: WireObject): readonly WireObject[] {
  const listed = isObject(calls) ? [calls] : objectsIn(calls);
  return listed.length === 0 && isObject(call) ? [{ function: call }] : listed;
}

/** The token counts of a completion or a chunk. */
export function usageIn(body: WireObject, choice: WireObject | undefined): WireObject | undefined {
  const counts = [body.usage, choice?.usage, groqOf(body).usage].filter(isObject);
  return counts.find((usage) => Object.keys(usage).length > 0);
}

function groqOf({ x_groq: fields }: WireObject): WireObject {
  return isObject(fields) ? fields : {};
}
