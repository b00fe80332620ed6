/** Matches a line with at least one letter or digit. */
const READABLE = /[\p{L}\p{N}]/u;

/**
 * Returns the first paragraph of a Markdown text as one line. Skips code blocks and comments. Returns the first heading
 * if the text has no paragraph.
 */
export function firstParagraph(markdown: string): string {
  let heading = '';
  let isCode = false;
  const paragraph: string[] = [];
  for (const line of markdown.split('\n').map((it) => it.trim())) {
    const isFence = line.startsWith('```') || line.startsWith('~~~');
    if (isFence) isCode = !isCode;
    const isText = !isCode && !isFence && !line.startsWith('<!--') && READABLE.test(line);
    if (isText && !line.startsWith('#')) paragraph.push(line);
    else if (paragraph.length > 0) break;
    else if (isText) heading ||= line.replace(/^#+\s*/, '');
  }
  return paragraph.length > 0 ? paragraph.join(' ') : heading;
}
