import { toJson } from '../../../internal/json.js';
import type {
  AssistantMessage,
  ContentPart,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
} from '../../../model/message.js';
import { toArguments } from '../../shared/answer.js';
import { fileNote, fileOf, IMAGE_TYPE, TEXT_TYPE } from '../../shared/file-data.js';
import { attachmentsOf, resultText } from '../../shared/tools/tool-result.js';
import type { WireObject } from '../../shared/wire.js';
import { imagePart, thinkingContent, toWireContent } from './content.js';
import { metadataOf } from './metadata.js';

/**
 * Converts messages for the chat completions API. Provider metadata is sent back only to the model that produced it.
 */
export function toWireMessages(messages: readonly Message[], model: string): readonly WireObject[] {
  return messages.flatMap((message): WireObject | readonly WireObject[] => {
    if (message.role === 'tool') return toolMessages(message, model);
    if (message.role === 'assistant') return assistantMessage(message, model);
    const content = toWireContent(message.content, model);
    return message.role === 'system' && message.content.trim() === '' ? [] : { role: message.role, content };
  });
}

/**
 * Converts an assistant message. Drops tool calls that a provider ran itself, and their results, because this API has
 * no field for them. Drops empty messages and blank text, which many servers refuse.
 */
function assistantMessage(message: AssistantMessage, model: string): readonly WireObject[] {
  const texts: Record<string, string> = {};
  const calls: WireObject[] = [];
  const images: WireObject[] = [];
  let fields: WireObject = {};
  let thinking = '';
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'reasoning') {
      const field = fieldOf(part, model);
      if (part.type === 'reasoning' && field === 'content') thinking += part.text;
      else if (field !== undefined) texts[field] = (texts[field] ?? '') + part.text;
      fields = { ...fields, ...metadataOf(part, model).fields };
    } else if (part.type === 'tool-call' && !part.providerExecuted) {
      calls.push(toolCall(part, model));
    } else if (part.type === 'file' && metadataOf(part, model).field === 'images') {
      images.push(imagePart(fileOf(part)));
    }
  }
  const { refusal } = texts;
  const content = texts.content?.trim() ? texts.content : '';
  if (content === '' && refusal === undefined && calls.length + images.length === 0) return [];
  const unsaid = images.length > 0 && calls.length === 0 ? '' : null;
  const spoken = thinking === '' ? content || unsaid : thinkingContent(thinking, content);
  const wire: Record<string, unknown> = { role: 'assistant', ...texts, content: spoken, ...fields };
  if (images.length > 0) wire.images = images;
  if (calls.length > 0) wire.tool_calls = calls;
  return [wire];
}

/**
 * Returns the message field for a text. Reasoning is sent back only to the model that produced it, in the field in
 * which the model sent it. Undefined if the text must not be sent.
 */
function fieldOf(part: TextPart | ReasoningPart, model: string): string | undefined {
  return metadataOf(part, model).field ?? (part.type === 'text' ? 'content' : undefined);
}

function toolCall(part: ToolCallPart, model: string): WireObject {
  const call = { name: part.name, arguments: toJson(toArguments(part)) };
  return { id: part.id, type: 'function', function: call, ...metadataOf(part, model).fields };
}

/**
 * Returns one tool message for each result. Tool messages contain only text, so images and files follow in one user
 * message.
 */
function toolMessages(message: ToolMessage, model: string): readonly WireObject[] {
  const results = message.content.map((part) => ({
    role: 'tool',
    tool_call_id: part.id,
    content: resultText(part),
  }));
  const attached = message.content.flatMap(attachmentsOf).map(fileOrNote);
  return attached.length > 0 ? [...results, { role: 'user', content: toWireContent(attached, model) }] : results;
}

/** Matches WAV and MP3, the only audio formats that OpenAI documents for requests. */
const AUDIO_TYPE = /^audio\/(?:x-|vnd\.)?(?:wave?|mp3|mpeg)(?:;|$)/i;
const PDF_TYPE = /^application\/pdf\b/i;

/**
 * Converts a part of a tool result for the user message that follows it. A file that the server would refuse becomes a
 * note. Otherwise the file would make each later request fail.
 */
function fileOrNote(part: ContentPart): ContentPart {
  if (part.type === 'text') return part;
  const file = fileOf(part);
  const isAddress = file.data instanceof URL;
  const types = [IMAGE_TYPE, PDF_TYPE, ...(isAddress ? [] : [AUDIO_TYPE, TEXT_TYPE])];
  if (types.some((type) => type.test(file.mediaType))) return part;
  const where = isAddress ? `at ${file.data} ` : '';
  return { type: 'text', text: fileNote(file, `${where}cannot be shown here`) };
}
