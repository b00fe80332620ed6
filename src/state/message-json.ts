import { toJson } from '../internal/json.js';
import type { Message } from '../model/message.js';

/** The position of bytes in a message: the indexes of nested parts, from the outermost to the innermost. */
type Path = readonly number[];
type Part = Record<string, unknown>;

/** A message whose bytes were replaced by base64 strings. */
interface PackedMessage {
  readonly packed: Message;
  readonly bytes: readonly Path[];
}

/** Converts a message to JSON for `messageFromJson`. Images and files that are bytes are included. */
export function messageToJson(message: Message): string {
  const bytes: Path[] = [];
  const packed = pack(message as unknown as Part, [], bytes);
  return toJson(bytes.length === 0 && !('packed' in message) ? message : { packed, bytes });
}

/** Restores a message from the JSON of `messageToJson`. */
export function messageFromJson(json: string): Message {
  const data: Message | PackedMessage = JSON.parse(json);
  if (!('packed' in data)) return data;
  for (const path of data.bytes) unpack(data.packed as unknown as Part, path);
  return data.packed;
}

/** Returns a copy with base64 strings instead of bytes, and adds the position of each to `found`. */
function pack(part: Part, path: Path, found: Path[]): Part {
  const field = byteField(part);
  if (field !== undefined) {
    found.push(path);
    return { ...part, [field]: toBase64(part[field] as Uint8Array) };
  }
  if (!Array.isArray(part.content)) return part;
  return { ...part, content: part.content.map((inner: Part, index) => pack(inner, [...path, index], found)) };
}

function unpack(message: Part, path: Path): void {
  let part = message;
  for (const index of path) part = (part.content as readonly Part[])[index] ?? {};
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
