import { toJson } from '../../internal/json.js';
import type { Message } from '../../model/message.js';
import type { Entry } from './entry.js';

/**
 * The position of bytes in a message: the array indexes of the parts and nested messages that lead to them, outermost
 * first.
 */
type Path = readonly number[];
type Part = Record<string, unknown>;

/** An entry as stored in JSON. Byte arrays are base64 strings, and `bytes` lists their positions. */
type PackedEntry = Entry & { readonly bytes?: readonly Path[] };

/**
 * Converts a message to JSON, including images and files that are byte arrays. `messageFromJson` restores the message.
 */
export function messageToJson(message: Message): string {
  return entryToJson({ id: '', at: 0, body: { type: 'message', message } });
}

/** Restores a message from the JSON of `messageToJson`. */
export function messageFromJson(json: string): Message {
  return messageIn(entryFromJson(json)) as Message;
}

/**
 * Returns a copy of a message or a message part. Images and files that are byte arrays become base64 strings in the
 * copy.
 */
export function withoutBytes<Content extends object>(content: Content): Content {
  return pack(content as Part, [], []) as Content;
}

/** Converts an entry to JSON, including images and files that are byte arrays. `entryFromJson` restores the entry. */
export function entryToJson(entry: Entry): string {
  const message = messageIn(entry);
  const bytes: Path[] = [];
  const packed = message && pack(message as unknown as Part, [], bytes);
  return toJson(bytes.length === 0 ? entry : { ...withMessage(entry, packed as unknown as Message), bytes });
}

/** Restores an entry from the JSON of `entryToJson`. */
export function entryFromJson(json: string): Entry {
  const stored: PackedEntry = JSON.parse(json);
  if (stored.bytes === undefined) return stored;
  const { bytes, ...entry } = stored;
  for (const path of bytes) unpack(messageIn(entry) as unknown as Part, path);
  return entry;
}

function messageIn({ body }: Entry): Message | undefined {
  if (body.type === 'message') return body.message;
  return body.type === 'post' && 'message' in body.post ? body.post.message : undefined;
}

function withMessage(entry: Entry, message: Message): Entry {
  const { body } = entry;
  const filled = body.type === 'post' ? { ...body, post: { ...body.post, message } } : { ...body, message };
  return { ...entry, body: filled as Entry['body'] };
}

/**
 * Returns a copy of a message part with base64 strings instead of byte arrays. Adds the position of each such string to
 * `found`.
 */
function pack(part: Part, path: Path, found: Path[]): Part {
  const field = byteField(part);
  if (field !== undefined) {
    found.push(path);
    return { ...part, [field]: toBase64(part[field] as Uint8Array) };
  }
  const packAll = (parts: readonly Part[]) => parts.map((inner, index) => pack(inner, [...path, index], found));
  if (Array.isArray(part.content)) return { ...part, content: packAll(part.content) };
  const inside = part.inside as InsidePart | undefined;
  return inside === undefined ? part : { ...part, inside: { ...inside, messages: packAll(inside.messages) } };
}

/** A nested run that waits for a decision, as stored in the tool call that started it. */
type InsidePart = { readonly messages: readonly Part[] };

function unpack(message: Part, path: Path): void {
  let part = message;
  for (const index of path) {
    const parts = (part.content ?? (part.inside as InsidePart | undefined)?.messages) as readonly Part[] | undefined;
    part = parts?.[index] ?? {};
  }
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
