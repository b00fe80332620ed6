import { ProviderError } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { isObject, objectsIn, parseJson, textOr, type WireObject } from './wire.js';

/** A completion's JSON. The client gives it as text where the server did not call it JSON. */
export function completionIn(body: unknown): WireObject {
  if (isObject(body)) return body;
  const text = textOr(body).trim();
  if (text === '') throw invalidAnswer('it is empty', { retryable: true, cause: body });
  const parsed = parseJson(text);
  if (isObject(parsed)) return parsed;
  throw invalidAnswer(`it is no JSON object but "${text.slice(0, 80)}". Check the baseURL`, { cause: body });
}

/** The first of several choices, whichever comes first. */
export function choiceIn({ choices }: WireObject): WireObject | undefined {
  return objectsIn(choices).find(({ index }) => (index ?? 0) === 0);
}

/** Throws the error that a completion, or a chunk of one, bears: beside its choices, in one, or in place of all. */
export function throwErrorIn(body: WireObject, choice: WireObject | undefined): void {
  const isError = !Array.isArray(body.choices) && (body.object === 'error' || textOr(body.message) !== '');
  const error = body.error || choice?.error || (isError && body);
  if (error) throw toProviderError('openai', { error });
}

/** The text of the parts of a content that are text: a string, or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => (part.type === 'text' ? textOr(part.text) : ''))
    .join('');
}

/**
 * The text of a message's reasoning, and the name of the field that holds it: servers differ, some send it under two
 * names, and Mistral among the parts of the content.
 */
export function reasoningIn(message: WireObject): { readonly field: string; readonly text: string } | undefined {
  const fields = ['reasoning_content', 'reasoning'].filter((name) => typeof message[name] === 'string');
  const field = fields.find((name) => message[name] !== '') ?? fields[0];
  if (field !== undefined) return { field, text: textOr(message[field]) };
  const thoughts = objectsIn(message.content).map(({ thinking }) => contentText(thinking));
  return thoughts.some(Boolean) ? { field: 'content', text: thoughts.join('') } : undefined;
}

/** The tool calls of a message or a delta. The protocol once had one call a message, under a name of its own. */
export function callsIn({ tool_calls: calls, function_call: call }: WireObject): readonly WireObject[] {
  const listed = objectsIn(calls);
  return listed.length === 0 && isObject(call) ? [{ function: call }] : listed;
}

/** The token counts of a completion or a chunk. */
export function usageIn(body: WireObject, choice: WireObject | undefined): WireObject | undefined {
  const groq = isObject(body.x_groq) ? body.x_groq.usage : undefined;
  return [body.usage, choice?.usage, groq].find(isObject);
}

/** What to throw for an answer that is none. */
export function invalidAnswer(problem: string, failure: { retryable?: boolean; cause: unknown }): ProviderError {
  return new ProviderError('openai', `The answer cannot be read: ${problem}.`, failure);
}
