import type { ContentPart, FilePart, ImagePart, TextPart, ToolResultPart } from '../../../model/message.js';

/**
 * Returns a tool result as a string. Begins the text of an error with "Error", unless the protocol has an error flag
 * (`hasErrorMark`). Never returns an empty string, because many servers refuse it.
 */
export function resultText({ content, isError }: ToolResultPart, hasErrorMark = false): string {
  const given = contentText(content);
  const text = given.trim() === '' ? '(no output)' : given;
  return isError && !hasErrorMark && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

/** Returns the texts of a content, joined by newlines. Also says how many files follow in a separate message. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const { length } = content.filter(isAttachment);
  if (length > 0) texts.push(length === 1 ? '(1 attachment follows.)' : `(${length} attachments follow.)`);
  return texts.join('\n');
}

/**
 * Returns the images and files of a tool result, after a text that names the tool call. Returns an empty array if the
 * result has none.
 */
export function attachmentsOf({ id, name, content }: ToolResultPart): readonly (TextPart | ImagePart | FilePart)[] {
  const files = typeof content === 'string' ? [] : content.filter(isAttachment);
  return files.length > 0 ? [{ type: 'text', text: `From tool call ${id} (${name}):` }, ...files] : [];
}

function isAttachment(part: ContentPart): part is ImagePart | FilePart {
  return part.type === 'image' || part.type === 'file';
}
