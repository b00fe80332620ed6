import { type ContentPart, contentText, type FilePart, type ImagePart, type ToolResultPart } from '../model/message.js';

/** Returns the output of a tool as JSON: the structured data, the text, or the array of content parts. */
export function toolOutput({ structured, content }: Pick<ToolResultPart, 'content' | 'structured'>): unknown {
  if (structured !== undefined) return structured;
  if (typeof content === 'string') return content;
  return content.every((part) => part.type === 'text') ? contentText(content) : content.map(jsonPart);
}

/** Returns a URL from which a page can load the file: the URL of the part, or a `data:` URL. */
export function fileUrl(part: FilePart | ImagePart): string {
  const data = part.type === 'image' ? part.image : part.data;
  const mediaType = part.mediaType ?? 'image/png';
  if (typeof data !== 'string') return `data:${mediaType};base64,${bytesToBase64(data)}`;
  return /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : `data:${mediaType};base64,${data}`;
}

/** Returns the value if JSON can represent it, and a placeholder otherwise. */
export function shownData(value: unknown): unknown {
  try {
    return JSON.stringify(value) === undefined ? null : value;
  } catch {
    return 'The data cannot be shown as JSON.';
  }
}

/** Returns a content part that can be sent as JSON. */
function jsonPart(part: ContentPart): unknown {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'file', url: fileUrl(part), mediaType: part.mediaType };
}

function bytesToBase64(bytes: Uint8Array): string {
  let binary = '';
  // `fromCharCode` accepts only a limited number of arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}
