import type { ContentPart, FilePart, ImagePart } from '../../../../model/message.js';
import { base64Of, type FileData, fileNote, fileOf, IMAGE_TYPE, TEXT_TYPE, textIn } from '../../../shared/file-data.js';
import { defined, isObject, type WireObject, wellFormed } from '../../../shared/wire.js';
import { openaiOf } from '../metadata.js';

/** Converts the content of a user message. Drops blank text. */
export function userContent(content: string | readonly ContentPart[]): readonly WireObject[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(contentPart);
}

/**
 * Converts a part of a tool result. A file that the API refuses becomes a note. Otherwise the file would make each
 * later request fail.
 */
export function resultPart(part: ContentPart): WireObject {
  if (part.type === 'text') return contentPart(part);
  const file = fileOf(part);
  const isAddress = file.data instanceof URL;
  const isAccepted = IMAGE_TYPE.test(file.mediaType) || /^application\/pdf\b/i.test(file.mediaType);
  if (isAccepted || (!isAddress && TEXT_TYPE.test(file.mediaType))) return contentPart(part);
  return { type: 'input_text', text: fileNote(file, `${isAddress ? `at ${file.data} ` : ''}cannot be shown here`) };
}

/**
 * Converts a part of a message. Fields that the application sets in `providerMetadata.openai.fields`, such as `detail`
 * or `file_id`, replace fields of the converted part.
 */
function contentPart(part: ContentPart): WireObject {
  const { fields } = openaiOf(part);
  const own = isObject(fields) ? fields : {};
  const wire = part.type === 'text' ? { type: 'input_text', text: wellFormed(part.text) } : filePart(part, own);
  return defined({ ...wire, ...own });
}

function filePart(part: ImagePart | FilePart, own: WireObject): WireObject {
  const file = fileOf(part);
  const { mediaType, filename, data } = file;
  const isImage = mediaType.startsWith('image/');
  if (own.file_id !== undefined) return { type: isImage ? 'input_image' : 'input_file' };
  if (isImage) return { type: 'input_image', image_url: toUrl(file), detail: 'auto' };
  if (data instanceof URL) return { type: 'input_file', file_url: data.href };
  const text = textIn(file);
  if (text !== undefined) return { type: 'input_text', text: filename === undefined ? text : `${filename}:\n${text}` };
  return { type: 'input_file', filename: filename ?? `file.${extensionOf(mediaType)}`, file_data: toUrl(file) };
}

/**
 * Returns the data of a file as a URL. The media type `image/*` becomes `image/jpeg`, because the API refuses a
 * wildcard, but detects the real format itself.
 */
export function toUrl(file: FileData): string {
  const { data, mediaType } = file;
  if (data instanceof URL) return data.href;
  return `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${base64Of(file)}`;
}

function extensionOf(mediaType: string): string {
  return /^[^/]+\/([a-z0-9]+)$/i.exec(mediaType)?.[1] ?? 'bin';
}
