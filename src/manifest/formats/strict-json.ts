import { isObject, type JsonValue } from '../../internal/json.js';
import { type ManifestProblem, pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';

/** Bytes that a manifest may have. */
export const MAX_JSON_BYTES = 1_048_576;

/** A JSON object, or the problems of the text. */
export type ParsedJson = JsonDocument | { readonly problems: readonly ManifestProblem[] };

/** A JSON object as it was read. */
export interface JsonDocument {
  readonly value: { readonly [key: string]: JsonValue };
  /** The keys that are lost: `__proto__`, and all but the last of a key that an object has twice. */
  readonly lost: readonly ManifestProblem[];
}

/** Reads bytes as one JSON object in UTF-8, without a byte order mark and comments, at most 1 MiB long. */
export function parseJsonObject(bytes: Uint8Array): ParsedJson {
  if (bytes.length > MAX_JSON_BYTES) return wrong(`it has ${bytes.length} bytes, more than ${MAX_JSON_BYTES}`);
  const text = decode(bytes);
  if (typeof text !== 'string') return wrong(text.problem);
  const read = readJson(text);
  if ('problem' in read) return wrong(read.problem);
  if (!isObject(read.value)) return wrong('it must be a JSON object');
  const lost = read.lost.map((key) => ({ path: pathText(key.path), message: lossText(key) }));
  return { value: read.value as JsonDocument['value'], lost };
}

function wrong(message: string): ParsedJson {
  return { problems: [{ path: '', message }] };
}

function decode(bytes: Uint8Array): string | { problem: string } {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { problem: 'it is UTF-16: save it as UTF-8' };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith('\uFEFF') ? { problem: 'it begins with a byte order mark: save it without one' } : text;
  } catch {
    return { problem: 'it is not UTF-8' };
  }
}
