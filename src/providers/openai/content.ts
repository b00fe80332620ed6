import { MessageInvalidError } from '../../errors.js';
import type { ContentPart, FilePart, ImagePart } from '../../model/message.js';
import { DATA_URL, decoded, TEXT_TYPE, toBase64 } from '../shared/file-data.js';
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
  if (part.type === 'image') return imagePart(part.image, part.mediaType);
  return part.type === 'file' ? filePart(part) : undefined;
}

/** A picture, on either side of a conversation. */
export function imagePart(image: ImagePart['image'], mediaType: string | undefined): WireObject {
  return { type: 'image_url', image_url: { url: toUrl(image, mediaType) } };
}

/** Pictures, sounds and texts have parts of their own; anything else is a file. */
function filePart({ data, mediaType, filename }: FilePart): WireObject {
  if (mediaType.startsWith('image/')) return imagePart(data, mediaType);
  const url = toUrl(data, mediaType);
  const [head = '', isBase64] = DATA_URL.exec(url) ?? [];
  const [, sound] = AUDIO_TYPE.exec(mediaType) ?? [];
  if (sound !== undefined && isBase64) {
    const format = AUDIO_FORMATS.get(sound) ?? sound;
    return { type: 'input_audio', input_audio: { data: url.slice(head.length), format } };
  }
  // As a file a text would be refused, and the conversation with it: OpenAI takes PDF alone, other servers no files.
  const text = head !== '' && TEXT_TYPE.test(mediaType) ? decoded(url.slice(head.length), isBase64) : undefined;
  if (text !== undefined) return { type: 'text', text: filename === undefined ? text : `${filename}:\n${text}` };
  return { type: 'file', file: { filename: filename ?? `file.${extensionOf(mediaType)}`, file_data: url } };
}

function toUrl(data: string | Uint8Array, mediaType: string | undefined): string {
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
    throw new MessageInvalidError('An image or a file is given as a text (a URL or base64) or as a Uint8Array.');
  }
  if (typeof data === 'string' && /^(https?|data):/i.test(data)) return data;
  if (mediaType === undefined) {
    throw new MessageInvalidError(
      'An image that is given as base64 or bytes needs its `mediaType`, such as "image/png".',
    );
  }
  // Of which kind a picture is, servers see for themselves, but they refuse one of no kind.
  return `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${typeof data === 'string' ? data : toBase64(data)}`;
}

function extensionOf(mediaType: string): string {
  return /^[^/]+\/([a-z0-9]+)$/i.exec(mediaType)?.[1] ?? 'bin';
}
