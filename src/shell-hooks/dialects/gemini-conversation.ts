import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { checkMessages } from '../../model/check-messages.js';
import { type Message, textOf as messageText } from '../../model/message.js';
import type { ModelResponse, ModelSettings } from '../../model/model.js';
import type { HookEffects, RequestChange } from '../hook/effects.js';
import { textOf } from './output.js';

const ROLES = { user: 'user', tool: 'user', assistant: 'model', system: 'system' } as const;

/** Returns a model request as Gemini CLI shows it to hooks. Each message contains only its text. */
export function toGeminiRequest(messages: readonly Message[], model: string): object {
  const shown = messages.map((message) => ({ role: ROLES[message.role], content: messageText(message) }));
  return { model, messages: shown, config: {} };
}

/** Returns a model response as Gemini CLI shows it to hooks. */
export function toGeminiResponse({ content, finishReason, usage }: ModelResponse): object {
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

/** Returns the change of a response that a hook wrote; undefined if the response has no parts. */
export function responseChange(response: JsonObject): HookEffects['response'] {
  const text = textOfResponse(response);
  if (text === undefined) return undefined;
  return (parts) => {
    if (parts.length > 0 && messageText({ role: 'assistant', content: parts }) === text) return parts;
    return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
  };
}

function textOfResponse({ text, candidates }: JsonObject): string | undefined {
  if (typeof text === 'string') return text;
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  const content = isObject(candidate) ? candidate.content : undefined;
  const parts: readonly JsonValue[] = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  if (parts.length === 0) return undefined;
  return parts.map(textOfPart).join('');
}

function textOfPart(part: JsonValue): string {
  const text = isObject(part) ? part.text : part;
  return typeof text === 'string' ? text : '';
}

/**
 * Returns the changes of a hook to a model request. A message that the hook did not change keeps its non-text parts.
 */
export function requestChange({ model, messages, config }: JsonObject): RequestChange {
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
  const settings: ModelSettings = Object.fromEntries(numbers.map(([name, setting]) => [setting, config[name]]));
  if (!Array.isArray(stopSequences)) return settings;
  return { ...settings, stopSequences: stopSequences.filter((text) => typeof text === 'string') };
}
