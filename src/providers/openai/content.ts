import type { ContentPart } from '../../model/message.js';
import { base64Of, type FileData, fileOf, textIn } from '../shared/file-data.js';
import type { WireObject } from '../shared/wire.js';
import { metadataOf } from './metadata.js';

/** Where a format has another name than its media type. */
const AUDIO_FORMATS = new Map([
  ['mpeg', 'mp3'],
  ['mp4', 'm4a'],
  ['wave', 'wav'],
]);
const AUDIO_TYPE = /^audio\/(?:x-|vnd\.)?([a-z0-9-]+)/;

/**
 * The content of a user message. One plain text stays a string, which every server takes. Parts of unknown types are
 * left out, and so are texts without a word, which some servers refuse.
 */
export function toWireContent(content: string | readonly ContentPart[], model: string): string | readonly WireObject[] {
  if (typeof content === 'string') return content;
  const parts = content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text' && !first.providerMetadata) return first.text;
  return parts.flatMap((part) => {
    const wire = toWirePart(part);
    return wire ? [{ ...wire, ...metadataOf(part, model).fields }] : [];
  });
}

/** Content in which Mistral's models think before they speak. */
export function thinkingContent(thinking: string, text: string): readonly WireObject[] {
  const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: thinking }] };
  return text === '' ? [thoughts] : [thoughts, { type: 'text', text }];
}

function toWirePart(part: ContentPart): WireObject | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return part.type === 'image' || part.type === 'file' ? filePart(fileOf(part)) : undefined;
}

/** A picture, on either side of a conversation. */
export function imagePart(file: FileData): WireObject {
  return { type: 'image_url', image_url: { url: toUrl(file) } };
}

/** Pictures, sounds and texts have parts of their own; anything else is a file. */
function filePart(file: FileData): WireObject {
  const { mediaType, filename } = file;
  if (mediaType.startsWith('image/')) return imagePart(file);
  const [, sound] = AUDIO_TYPE.exec(mediaType) ?? [];
  if (sound !== undefined && !(file.data instanceof URL)) {
    return { type: 'input_audio', input_audio: { data: base64Of(file), format: AUDIO_FORMATS.get(sound) ?? sound } };
  }
  // Sent as a file, text would be refused: OpenAI takes only PDF, and other servers take no files.
  const text = textIn(file);
  if (text !== undefined) return { type: 'text', text: filename === undefined ? text : `${filename}:\n${text}` };
  return { type: 'file', file: { filename: filename ?? `file.${extensionOf(mediaType)}`, file_data: toUrl(file) } };
}

/** Servers see for themselves of which kind a picture is, but they refuse one without a kind. */
function toUrl(file: FileData): string {
  const { data, mediaType } = file;
  return data instanceof URL
    ? data.href
    : `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${base64Of(file)}`;
}

function extensionOf(mediaType: string): string {
  return /^[^/]+\/([a-z0-9]+)$/i.exec(mediaType)?.[1] ?? 'bin';
}
