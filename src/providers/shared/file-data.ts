import { MessageInvalidError } from '../../errors.js';
import type { FilePart, ImagePart } from '../../model/message.js';

/** Matches the media types of files whose content is sent to a model as text. */
export const TEXT_TYPE = /^text\/|^application\/(?:.+\+)?(?:x-)?(?:json|xml|yaml)(?:;|$)/;

/**
 * Matches the image types that OpenAI and Anthropic document. Also matches the wildcard `image/*`, because the type of
 * an image at a URL is often unknown.
 */
export const IMAGE_TYPE = /^image\/(?:jpe?g|png|gif|webp|\*)(?:;|$)/i;

/** The first characters of each image format in base64, with its media type. */
const IMAGE_BEGINNINGS = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

/** The data of an image or file in a message, with its media type. */
export interface FileData {
  /** A base64 string, bytes, or a URL. */
  readonly data: string | Uint8Array | URL;
  readonly mediaType: string;
  readonly filename?: string | undefined;
}

/**
 * Returns the data and the media type of an image or file part. Throws a MessageInvalidError if the data is invalid, or
 * if the media type is unknown.
 */
export function fileOf(part: ImagePart | FilePart): FileData {
  const given = part.type === 'image' ? part.image : part.data;
  const { mediaType } = part;
  const filename = part.type === 'file' ? part.filename : undefined;
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) {
    throw new MessageInvalidError('An image or a file must be a string (a URL or base64) or a Uint8Array.');
  }
  if (typeof given === 'string' && /^data:/i.test(given)) return { ...inDataUrl(given, mediaType), filename };
  if (typeof given === 'string' && /^[a-z][a-z\d+.-]{0,20}:\/\//i.test(given)) {
    if (!URL.canParse(given)) throw new MessageInvalidError(`An image or a file must be a valid URL, got "${given}".`);
    return { data: new URL(given), mediaType: mediaType ?? 'image/*', filename };
  }
  const type = mediaType ?? imageTypeOf(typeof given === 'string' ? given : toBase64(given.subarray(0, 12)));
  if (type !== undefined) return { data: given, mediaType: type, filename };
  throw new MessageInvalidError(
    'An image part needs a `mediaType`, such as "image/png": its format cannot be detected.',
  );
}

function inDataUrl(url: string, given: string | undefined): FileData {
  const comma = url.indexOf(',');
  const [type = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const mediaType = given === undefined || given.includes('*') ? type || given || 'text/plain' : given;
  const body = url.slice(comma + 1);
  if (parameters.some((parameter) => /^base64$/i.test(parameter.trim()))) return { data: body, mediaType };
  try {
    return { data: new TextEncoder().encode(decodeURIComponent(body)), mediaType };
  } catch {
    throw new MessageInvalidError(
      `A data URL of type ${mediaType} must be percent-encoded: it contains an invalid "%" sequence.`,
    );
  }
}

/** Detects the media type of an image from the start of its base64 data. */
export function imageTypeOf(base64: string): string | undefined {
  return IMAGE_BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1];
}

/** Returns the data of a file as base64. Returns undefined for a URL. */
export function base64Of({ data }: FileData): string | undefined {
  if (data instanceof URL) return undefined;
  return typeof data === 'string' ? data : toBase64(data);
}

/** Returns the content of a text file as a string. Returns undefined for a URL, another media type or invalid UTF-8. */
export function textIn({ data, mediaType }: FileData): string | undefined {
  if (data instanceof URL || !TEXT_TYPE.test(mediaType)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(typeof data === 'string' ? fromBase64(data) : data);
  } catch {
    return undefined;
  }
}

function fromBase64(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  // `Uint8Array.from` takes thirty times as long, and this code runs in each turn.
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Returns the text that tells the model about a file that it cannot get. */
export function fileNote({ mediaType, filename }: Omit<FileData, 'data'>, problem = 'cannot be shown here'): string {
  const name = filename === undefined ? '' : ` "${filename}"`;
  return `(A file${name} of type ${mediaType} ${problem}.)`;
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
