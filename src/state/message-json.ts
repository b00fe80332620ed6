import type { Message } from '../model/message.js';

/** Where bytes stand in a message: the places in its lists of parts, from the outside in. */
type Path = readonly number[];
type Part = Record<string, unknown>;

/** A message whose bytes were put as base64 text. */
interface PackedMessage {
  readonly packed: Message;
  readonly bytes: readonly Path[];
}

/** The message as JSON from which `messageFromJson` makes it again, pictures and files that are bytes included. */
export function messageToJson(message: Message): string {
  const bytes: Path[] = [];
  const packed = pack(message as unknown as Part, [], bytes);
  return JSON.stringify(bytes.length === 0 && !('packed' in message) ? message : { packed, bytes });
}

/** The message that `messageToJson` was given. */
export function messageFromJson(json: string): Message {
  const data: Message | PackedMessage = JSON.parse(json);
  if (!('packed' in data)) return data;
  for (const path of data.bytes) unpack(data.packed as unknown as Part, path);
  return data.packed;
}

/** A copy with text for bytes, where there are any; notes where they were. */
function pack(part: Part, path: Path, found: Path[]): Part {
  const field = byteField(part);
  if (field !== undefined) {
    found.push(path);
    return { ...part, [field]: toBase64(part[field] as Uint8Array) };
  }
  if (!Array.isArray(part.content)) return part;
  return { ...part, content: part.content.map((inner: Part, at) => pack(inner, [...path, at], found)) };
}

function unpack(message: Part, path: Path): void {
  let part = message;
  for (const at of path) part = (part.content as readonly Part[])[at] ?? {};
  const field = part.type === 'image' ? 'image' : 'data';
  part[field] = fromBase64(String(part[field]));
}

function byteField(part: Part): 'image' | 'data' | undefined {
  if (part.type === 'image' && part.image instanceof Uint8Array) return 'image';
  return part.type === 'file' && part.data instanceof Uint8Array ? 'data' : undefined;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
