import type { ContentPart, FilePart, ImagePart, TextPart, ToolResultPart } from '../../model/message.js';

/**
 * A result as plain text, for protocols that take no files in it. Most have no mark for an error either, so the text says
 * it; many servers refuse a result without a word.
 */
export function resultText({ content, isError }: ToolResultPart, hasErrorMark = false): string {
  const given = contentText(content);
  const text = given.trim() === '' ? '(no output)' : given;
  return isError && !hasErrorMark && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

/** The text parts of a result, one a line, and how many files follow in a message of their own. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const { length } = content.filter(isAttachment);
  if (length > 0) texts.push(length === 1 ? '(1 attachment follows.)' : `(${length} attachments follow.)`);
  return texts.join('\n');
}

/** The pictures and files of a result, after a text that names the call; empty if there are none. */
export function attachmentsOf({ id, name, content }: ToolResultPart): readonly (TextPart | ImagePart | FilePart)[] {
  const files = typeof content === 'string' ? [] : content.filter(isAttachment);
  return files.length > 0 ? [{ type: 'text', text: `From tool call ${id} (${name}):` }, ...files] : [];
}

function isAttachment(part: ContentPart): part is ImagePart | FilePart {
  return part.type === 'image' || part.type === 'file';
}
