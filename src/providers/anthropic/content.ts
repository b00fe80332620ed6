import { MessageInvalidError } from '../../errors.js';
import type { ContentPart, FilePart } from '../../model/message.js';
import { DATA_URL, decoded, fileNote, TEXT_TYPE, toBase64 } from '../shared/file-data.js';
import { defined, type WireObject } from '../shared/wire.js';
import { fieldsOf } from './metadata.js';

/** How the base64 of a picture begins: the API refuses one that is said to be of another kind than it is. */
const IMAGE_BEGINNINGS = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

const IMAGE_TYPE = /^image\/(jpeg|png|gif|webp)$/i;

/** The content of a user message or a result as blocks. The API refuses texts without a word: they are left out. */
export function toBlocks(content: string | readonly ContentPart[], model: string): readonly WireObject[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.flatMap((part) => {
    const block = toBlock(part);
    return block ? [{ ...block, ...fieldsOf(part, model) }] : [];
  });
}

function toBlock(part: ContentPart): WireObject | undefined {
  if (part.type === 'text') return part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
  if (part.type === 'image') return imageBlock(part.image, part.mediaType);
  return part.type === 'file' ? fileBlock(part) : undefined;
}

function imageBlock(image: string | Uint8Array, mediaType: string | undefined, filename?: string): WireObject {
  const data = dataOf(image);
  if ('url' in data) return { type: 'image', source: { type: 'url', url: data.url } };
  const known = IMAGE_BEGINNINGS.find(([beginning]) => data.base64.startsWith(beginning))?.[1];
  const type = known ?? data.mediaType ?? mediaType;
  if (type === undefined) {
    throw new MessageInvalidError(
      'An image that is given as base64 or bytes needs its `mediaType`, such as "image/png".',
    );
  }
  if (data.base64 === '') return note({ mediaType: type, filename }, 'is empty');
  if (!IMAGE_TYPE.test(type)) return note({ mediaType: type, filename });
  return { type: 'image', source: { type: 'base64', media_type: type, data: data.base64 } };
}

/** Pictures, PDF and texts are all that the API takes. What else there is the model is told of. */
function fileBlock({ data: given, mediaType, filename }: FilePart): WireObject {
  if (mediaType.startsWith('image/')) return imageBlock(given, mediaType, filename);
  const data = dataOf(given);
  const document = (source: WireObject) => defined({ type: 'document', source, title: filename });
  if (/^application\/pdf\b/.test(mediaType)) {
    if ('url' in data) return document({ type: 'url', url: data.url });
    if (data.base64 === '') return note({ mediaType, filename }, 'is empty');
    return document({ type: 'base64', media_type: 'application/pdf', data: data.base64 });
  }
  const text = 'url' in data || !TEXT_TYPE.test(mediaType) ? undefined : decoded(data.base64, 'base64');
  if (text?.trim()) return document({ type: 'text', media_type: 'text/plain', data: text });
  const where = 'url' in data ? `at ${data.url} ` : '';
  return note({ mediaType, filename }, `${where}${text === undefined ? 'cannot be shown here' : 'is empty'}`);
}

function note(file: Pick<FilePart, 'mediaType' | 'filename'>, problem?: string): WireObject {
  return { type: 'text', text: fileNote(file, problem) };
}

type FileData = { readonly url: string } | { readonly base64: string; readonly mediaType?: string | undefined };

function dataOf(data: string | Uint8Array): FileData {
  if (data instanceof Uint8Array) return { base64: toBase64(data) };
  if (typeof data !== 'string') {
    throw new MessageInvalidError('An image or a file is given as a text (a URL or base64) or as a Uint8Array.');
  }
  if (/^https?:/i.test(data)) return { url: data };
  const [head, isBase64] = DATA_URL.exec(data) ?? [];
  if (head === undefined) return { base64: data };
  const body = data.slice(head.length);
  const mediaType = /^data:([^;,]+)/i.exec(head)?.[1];
  const text = isBase64 ? undefined : decoded(body, undefined);
  return { mediaType, base64: text === undefined ? body : toBase64(new TextEncoder().encode(text)) };
}
