import type { AssistantMessage, AssistantPart, Message } from '../../../model/message.js';
import { isObject, textOr, type WireObject } from '../../shared/wire.js';
import { openaiOf } from './metadata.js';
import { type InputTarget, toInput } from './request/input.js';

/** A response that the server has stored. Remembered in the metadata of the response's last part. */
interface StoredResponse {
  readonly id: string;
  /**
   * A fingerprint of all messages before the response, and of the response's own parts. Shows whether the conversation
   * has changed.
   */
  readonly fingerprint: string;
}

/** The messages that the server has not stored yet, and the id of the stored response before them. */
export interface ChainedInput {
  readonly previous_response_id: string;
  readonly input: readonly WireObject[];
}

/**
 * Returns only the messages after the last response that the server has stored. Returns undefined if this model has no
 * stored response in the conversation, or if the messages before it have changed.
 */
export function chainedInput(messages: readonly Message[], target: InputTarget): ChainedInput | undefined {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as Message;
    if (message.role !== 'assistant') continue;
    const stored = storedIn(message, target.model);
    if (stored === undefined || stored.fingerprint !== fingerprintOf(messages.slice(0, at), message.content)) {
      return undefined;
    }
    const before = toInput(messages.slice(0, at + 1), target);
    const input = toInput(messages, target).slice(before.length);
    return input.length > 0 ? { previous_response_id: stored.id, input } : undefined;
  }
  return undefined;
}

/**
 * Returns the parts of a response. The metadata of the last part remembers the id under which the server has stored the
 * response.
 */
export function withStored(
  content: readonly AssistantPart[],
  id: string,
  before: readonly Message[],
): readonly AssistantPart[] {
  const last = content.at(-1);
  if (last === undefined || id === '') return content;
  const response: StoredResponse = { id, fingerprint: fingerprintOf(before, content) };
  const providerMetadata = { ...last.providerMetadata, openai: { ...openaiOf(last), response } };
  return [...content.slice(0, -1), { ...last, providerMetadata }];
}

function storedIn({ content }: AssistantMessage, model: string): StoredResponse | undefined {
  const metadata = openaiOf(content.at(-1) ?? {});
  const { response } = metadata;
  if (metadata.model !== model || !isObject(response) || textOr(response.id) === '') return undefined;
  return { id: textOr(response.id), fingerprint: textOr(response.fingerprint) };
}

/** Returns a fingerprint of messages. It stays the same if the messages are stored as JSON and read again. */
function fingerprintOf(before: readonly Message[], content: readonly AssistantPart[]): string {
  return hashOf(JSON.stringify([before.map(withoutResponses), content.map(withoutResponse)]));
}

function withoutResponses(message: Message): unknown {
  return message.role === 'assistant' ? { ...message, content: message.content.map(withoutResponse) } : message;
}

function withoutResponse(part: AssistantPart): unknown {
  const { response, ...openai } = openaiOf(part);
  return response === undefined ? part : { ...part, providerMetadata: { ...part.providerMetadata, openai } };
}

/** Returns a hash of a string (FNV-1a with 53 bits, in two lanes). Detects accidental changes, not deliberate ones. */
function hashOf(text: string): string {
  let one = 0x811c9dc5;
  let two = 0x1b873593;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x85ebca6b);
  }
  return `${(one >>> 0).toString(16)}-${(two >>> 0).toString(16)}-${text.length}`;
}

/** True if an error means that the server has deleted the previous response. */
export function isForgotten(code: unknown, message: string): boolean {
  return code === 'previous_response_not_found' || /previous response .*not found/i.test(message);
}
