import type { FilePart, ImagePart, TextPart, UserMessage } from '../model/message.js';
import { invalidBody } from './invalid-body.js';

type Parts = readonly Readonly<Record<string, unknown>>[];

/** Converts the parts of a user message. Throws a UIBodyInvalidError unless each part is a text or an inline file. */
export function userMessageOf(parts: Parts, at: string): UserMessage {
  const content = parts.map((part, index) => userPart(part, `part ${index} of ${at}`));
  if (content.length === 0) throw invalidBody(`the parts of ${at}`, 'at least one part', content);
  const [only] = content;
  return { role: 'user', content: content.length === 1 && only?.type === 'text' ? only.text : content };
}

function userPart(part: Parts[number], at: string): TextPart | ImagePart | FilePart {
  const { type, text, url, mediaType, filename } = part;
  if (type === 'text') {
    if (typeof text !== 'string') throw invalidBody(`the text of ${at}`, 'a string', text);
    return { type: 'text', text };
  }
  if (type !== 'file') throw invalidBody(`the type of ${at}`, '"text" or "file"', type);
  // A URL would make the server or the provider load an address that the page has chosen.
  if (typeof url !== 'string' || !/^data:/i.test(url)) throw invalidBody(`the url of ${at}`, 'a `data:` URL', url);
  if (typeof mediaType !== 'string' || mediaType === '') {
    throw invalidBody(`the mediaType of ${at}`, 'a non-empty string', mediaType);
  }
  if (mediaType.startsWith('image/')) return { type: 'image', image: url, mediaType };
  const file: FilePart = { type: 'file', data: url, mediaType };
  return typeof filename === 'string' ? { ...file, filename } : file;
}
