import type { ContentPart } from '../../../model/message.js';
import { base64Of, type FileData, fileOf, textIn } from '../../shared/file-data.js';
import type { WireObject } from '../../shared/wire.js';
import { metadataOf } from './metadata.js';

/** The audio formats that have another name in this API than in the media type. */
const AUDIO_FORMATS = new Map([
  ['mpeg', 'mp3'],
  ['mp4', 'm4a'],
  ['wave', 'wav'],
]);
const AUDIO_TYPE = /^audio\/(?:x-|vnd\.)?([a-z0-9-]+)/;

/**
 * Converts the content of a user message. A single text becomes a string, which every server accepts. Drops unknown
 * parts and blank text, because some servers refuse them.
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

/**
 * Returns the content of an assistant message in the form that Mistral's models require: a `thinking` part before the
 * text.
 */
export function thinkingContent(thinking: string, text: string): readonly WireObject[] {
  const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: thinking }] };
  return text === '' ? [thoughts] : [thoughts, { type: 'text', text }];
}

function toWirePart(part: ContentPart): WireObject | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return part.type === 'image' || part.type === 'file' ? filePart(fileOf(part)) : undefined;
}

/** Returns an image in the form that a request requires. */
export function imagePart(file: FileData): WireObject {
  return { type: 'image_url', image_url: { url: toUrl(file) } };
}

/**
 * Converts a file. Becomes an image, audio or text part if the media type allows it, and otherwise a generic file part.
 */
function filePart(file: FileData): WireObject {
  const { mediaType, filename } = file;
  if (mediaType.startsWith('image/')) return imagePart(file);
  const [, sound] = AUDIO_TYPE.exec(mediaType) ?? [];
  if (sound !== undefined && !(file.data instanceof URL)) {
    return { type: 'input_audio', input_audio: { data: base64Of(file), format: AUDIO_FORMATS.get(sound) ?? sound } };
  }
  // OpenAI accepts only PDF files, and other servers accept no files, so a text file is sent as text.
  const text = textIn(file);
  if (text !== undefined) return { type: 'text', text: filename === undefined ? text : `${filename}:\n${text}` };
  return { type: 'file', file: { filename: filename ?? `file.${extensionOf(mediaType)}`, file_data: toUrl(file) } };
}

/**
 * Returns the data of a file as a URL. The media type `image/*` becomes `image/jpeg`, because servers refuse a
 * wildcard, but detect the real format themselves.
 */
function toUrl(file: FileData): string {
  const { data, mediaType } = file;
  return data instanceof URL
    ? data.href
    : `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${base64Of(file)}`;
}

function extensionOf(mediaType: string): string {
  return /^[^/]+\/([a-z0-9]+)$/i.exec(mediaType)?.[1] ?? 'bin';
}
