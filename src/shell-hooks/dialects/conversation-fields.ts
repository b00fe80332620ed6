import { describeError } from '../../errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { checkMessages } from '../../model/check-messages.js';
import type { AssistantPart, Message } from '../../model/message.js';
import { problemOfPart } from '../../model/whole-response.js';
import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import type { FinishedHook, HookEffects } from '../hook/effects.js';
import { jsonText } from '../hook/plain-json.js';
import { mustBe } from './output.js';

/** Returns the problem of `updatedMessages` or `updatedResponse`; undefined if both are valid or absent. */
export function findBadConversation({ updatedMessages, updatedResponse }: JsonObject): string | undefined {
  const problem = isPresent(updatedMessages) ? problemOfMessages(updatedMessages) : undefined;
  return problem ?? (isPresent(updatedResponse) ? problemOfResponse(updatedResponse) : undefined);
}

/**
 * Returns the effects of `updatedMessages` at `before_model`, and of `updatedResponse` at `before_model` and
 * `after_model`.
 */
export function conversationEffects(
  { updatedMessages, updatedResponse }: JsonObject,
  { hook: { event }, shown }: FinishedHook,
): HookEffects {
  if (event !== 'before_model' && event !== 'after_model') return {};
  const messages = updatedMessages as unknown as readonly Message[];
  const changesRequest = event === 'before_model' && isPresent(updatedMessages);
  return {
    request: changesRequest ? { settings: {}, change: (before) => restored(before, messages, shown) } : undefined,
    response: isPresent(updatedResponse)
      ? (before) => restored(before, partsOf(updatedResponse, before), shown)
      : undefined,
  };
}

/**
 * Returns the items that a hook gave back. An unchanged item is the original object, with its bytes and its sensitive
 * fields. `shown` returns an item as the hook read it.
 */
function restored<Item>(
  before: readonly Item[],
  given: readonly Item[],
  shown: (value: unknown) => unknown,
): readonly Item[] {
  const left = before.map((item) => ({ item, text: comparable(shown(item)) }));
  return given.map((item) => {
    const text = comparable(item);
    const at = left.findIndex((other) => other.text === text);
    return left.splice(0, at + 1).at(-1)?.item ?? item;
  });
}

/** Returns the JSON of a value, independent of the order of its keys. */
function comparable(value: unknown): string {
  return canonicalJson(JSON.parse(jsonText(value)));
}

function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

/** Returns the new parts of a response. A string replaces the text parts and keeps all other parts. */
function partsOf(given: JsonValue, before: readonly AssistantPart[]): readonly AssistantPart[] {
  if (typeof given !== 'string') return given as unknown as readonly AssistantPart[];
  return [{ type: 'text', text: given }, ...before.filter(({ type }) => type !== 'text')];
}

function problemOfMessages(messages: JsonValue): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    return mustBe('updatedMessages', 'a non-empty array of messages, as in `data.messages`', messages);
  }
  try {
    const open = checkMessages(messages as unknown as readonly Message[])?.open ?? [];
    const ids = open.map(({ id }) => JSON.stringify(id));
    return open.length === 0
      ? undefined
      : `\`updatedMessages\` must contain a result for the tool call ${ids.join(', ')}`;
  } catch (error) {
    return `\`updatedMessages\` cannot be sent: ${describeError(error)}`;
  }
}

function problemOfResponse(response: JsonValue): string | undefined {
  if (typeof response === 'string') return undefined;
  if (!Array.isArray(response)) {
    return mustBe('updatedResponse', 'a string, or an array of parts as in `data.response.content`', response);
  }
  const parts: readonly JsonValue[] = response;
  const problems = parts.map((part) => problemOfPart(part as unknown as AssistantPart));
  const at = problems.findIndex((problem) => problem !== undefined);
  if (at >= 0) return `\`updatedResponse[${at}]\` is invalid: ${problems[at]}`;
  const ids = parts.flatMap((part) => (isObject(part) && part.type === 'tool-call' ? [part.id] : []));
  return new Set(ids).size === ids.length ? undefined : '`updatedResponse` has two tool calls with the same id';
}
