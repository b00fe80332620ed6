import { join } from 'node:path';
import { isObject, type JsonValue } from '../../internal/json.js';
import { type ManifestProblem, pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';
import { readBytes } from '../../process/files/file-bytes.js';
import { resolveInside } from '../../process/files/relative-path.js';

const MAX_JSON_BYTES = 1_048_576;

/** A JSON object, or the problems of the text. */
export type ParsedJson = JsonDocument | { readonly problems: readonly ManifestProblem[] };

/** A JSON object as it was read. */
export interface JsonDocument {
  readonly value: { readonly [key: string]: JsonValue };
  /** The keys that are lost: `__proto__`, and all but the last of a key that an object has twice. */
  readonly lost: readonly ManifestProblem[];
}

/** Reads a JSON file in the folder of an extension; undefined if it is missing. */
export async function readJsonFile(root: string, path: string): Promise<ParsedJson | undefined> {
  const read = await readBytes(join(root, path), MAX_JSON_BYTES);
  if ('problem' in read) return read.isAbsent ? undefined : wrong(read.problem);
  if ((await resolveInside(root, path)) === undefined) return wrong('it leads out of the folder of the extension');
  return parseJsonObject(read.bytes);
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
