import { MessageInvalidError } from '../errors.js';
import type { ContentPart, FilePart, ImagePart } from '../model/message.js';
import { metadataOf } from './openai-metadata.js';
import type { WireObject } from './wire.js';

const AUDIO_FORMATS = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
]);

/**
 * The content of a user message. One plain text stays a string, which every server takes. Parts of unknown types are
 * left out.
 */
export function toWireContent(content: string | readonly ContentPart[], model: string): string | readonly WireObject[] {
  if (typeof content === 'string') return content;
  const [first] = content;
  if (content.length === 1 && first?.type === 'text' && !first.providerMetadata) return first.text;
  return content.flatMap((part) => {
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

function imagePart(image: ImagePart['image'], mediaType: string | undefined): WireObject {
  return { type: 'image_url', image_url: { url: toUrl(image, mediaType) } };
}

/** Pictures and sounds have parts of their own; anything else is a file. */
function filePart({ data, mediaType, filename }: FilePart): WireObject {
  if (mediaType.startsWith('image/')) return imagePart(data, mediaType);
  const format = AUDIO_FORMATS.get(mediaType);
  const url = toUrl(data, mediaType);
  if (format !== undefined && url.startsWith('data:')) {
    return { type: 'input_audio', input_audio: { data: url.slice(url.indexOf(',') + 1), format } };
  }
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
  return `data:${mediaType};base64,${typeof data === 'string' ? data : toBase64(data)}`;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function extensionOf(mediaType: string): string {
  return /^[^/]+\/([a-z0-9]+)$/i.exec(mediaType)?.[1] ?? 'bin';
}
