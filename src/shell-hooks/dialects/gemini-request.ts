import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { checkMessages } from '../../model/check-messages.js';
import { type Message, textOf } from '../../model/message.js';
import type { ModelRequest, ModelResponse, ModelSettings } from '../../model/model.js';

type GeminiMessage = { readonly role: string; readonly content: string };

const ROLES = { user: 'user', tool: 'user', assistant: 'model', system: 'system' } as const;

/** A request as Gemini CLI shows it to its hooks: the texts of the conversation. */
export function toGeminiRequest(messages: readonly Message[], model: string): object {
  return { model, messages: messages.map(toGeminiMessage), config: {} };
}

function toGeminiMessage(message: Message): GeminiMessage {
  return { role: ROLES[message.role], content: textOf(message) };
}

/** A response as Gemini CLI shows it to its hooks. */
export function toGeminiResponse({ content, finishReason, usage }: ModelResponse): object {
  const text = textOf({ role: 'assistant', content });
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

/** The text of a response that a hook made up; undefined where it has no parts. */
export function textOfResponse({ text, candidates }: JsonObject): string | undefined {
  if (typeof text === 'string') return text;
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  const content = isObject(candidate) ? candidate.content : undefined;
  const parts: readonly JsonValue[] = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  if (parts.length === 0) return undefined;
  return parts.map(textOfPart).join('');
}

/** Of what is no text nothing: not all that JSON holds can be made one. */
function textOfPart(part: JsonValue): string {
  const text = isObject(part) ? part.text : part;
  return typeof text === 'string' ? text : '';
}

/** The request with what a hook changed of it. Throws a `MessageInvalidError` where its messages cannot be sent. */
export function applyGeminiRequest<R extends ModelRequest>(request: R, change: JsonObject): R {
  const { config } = change;
  const settings = isObject(config) ? settingsOf(config as JsonObject) : {};
  return {
    ...request,
    messages: changeMessages(request.messages, change),
    ...(Object.keys(settings).length > 0 && { settings: { ...request.settings, ...settings } }),
  };
}

/**
 * The messages that a hook made of others. One that it left as it is keeps what a text does not show. Throws a
 * `MessageInvalidError` where they cannot be sent.
 */
export function changeMessages(before: readonly Message[], change: JsonObject): readonly Message[] {
  if (!Array.isArray(change.messages)) return before;
  const left = [...before];
  const messages = (change.messages as JsonObject[]).map((message): Message => {
    const content = contentOf(message);
    const same = left.findIndex((other) => ROLES[other.role] === message.role && textOf(other) === content);
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
