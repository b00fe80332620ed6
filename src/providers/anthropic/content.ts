import type { ContentPart } from '../../model/message.js';
import { base64Of, type FileData, fileNote, fileOf, IMAGE_TYPE, imageTypeOf, textIn } from '../shared/file-data.js';
import { defined, type WireObject } from '../shared/wire.js';
import { fieldsOf } from './metadata.js';

const ACCEPTED = /^image\/(jpeg|png|gif|webp)$/i;

/**
 * Converts the content of a user message or a tool result into content blocks. Drops blank text, which the API refuses.
 */
export function toBlocks(content: string | readonly ContentPart[], model: string): readonly WireObject[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.flatMap((part) => {
    const block = toBlock(part);
    return block ? [{ ...block, ...fieldsOf(part, model) }] : [];
  });
}

function toBlock(part: ContentPart): WireObject | undefined {
  if (part.type === 'text') return part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
  return part.type === 'image' || part.type === 'file' ? fileBlock(fileOf(part)) : undefined;
}

/** Converts a file into a content block. The API accepts images, PDF and text; any other file becomes a note. */
function fileBlock(file: FileData): WireObject {
  const { data, mediaType, filename } = file;
  const isImage = mediaType.startsWith('image/');
  const isPdf = /^application\/pdf\b/.test(mediaType);
  const block = (source: WireObject) =>
    isImage ? { type: 'image', source } : defined({ type: 'document', source, title: filename });
  if (data instanceof URL) {
    return IMAGE_TYPE.test(mediaType) || isPdf
      ? block({ type: 'url', url: data.href })
      : note(file, `at ${data} cannot be shown here`);
  }
  const base64 = base64Of(file) ?? '';
  if (base64 === '') return note(file, 'is empty');
  // The API refuses an image with a wrong media type, so the type is detected from the data.
  const type = isImage ? (imageTypeOf(base64) ?? mediaType) : 'application/pdf';
  if (isPdf || ACCEPTED.test(type)) return block({ type: 'base64', media_type: type, data: base64 });
  const text = textIn(file);
  if (text?.trim()) return block({ type: 'text', media_type: 'text/plain', data: text });
  return note(file, text === undefined ? undefined : 'is empty');
}

function note(file: FileData, problem?: string): WireObject {
  return { type: 'text', text: fileNote(file, problem) };
}
