import { join } from 'node:path';
import { isObject, type JsonValue } from '../../internal/json.js';
import { type LeveledProblem, type ManifestProblem, pathText } from '../../internal/problem.js';
import { type LostKey, lossText, readJson } from '../../internal/read-json.js';
import { exactText, readBytes } from '../../process/files/file-bytes.js';
import { resolveInside } from '../../process/files/relative-path.js';

const MAX_JSON_BYTES = 1_048_576;

/** A JSON object, or the problems of its source. */
export type ParsedJson = JsonDocument | { readonly problems: readonly LeveledProblem[] };

/** A parsed JSON object. */
export interface JsonDocument {
  readonly value: { readonly [key: string]: JsonValue };
  /** Keys that are dropped: `__proto__`, and every earlier duplicate of a key. */
  readonly lost: readonly LostKey[];
}

/** Reads a JSON file in the directory of an extension package. Resolves to undefined if the file is missing. */
export async function readJsonFile(root: string, path: string): Promise<ParsedJson | undefined> {
  const read = await readBytes(join(root, path), MAX_JSON_BYTES);
  if ('problem' in read) return read.isAbsent ? undefined : wrong(read.problem);
  if ((await resolveInside(root, path)) === undefined) return wrong('it leads out of the extension directory');
  return parseJsonObject(read.bytes);
}

/** Parses bytes as one JSON object in UTF-8 of at most 1 MiB. Comments are invalid. */
export function parseJsonObject(bytes: Uint8Array): ParsedJson {
  if (bytes.length > MAX_JSON_BYTES) return wrong(`it must have at most ${MAX_JSON_BYTES} bytes, got ${bytes.length}`);
  const text = decode(bytes);
  if (typeof text !== 'string') return wrong(text.problem);
  const read = readJson(text);
  if ('problem' in read) return wrong(read.problem);
  if (!isObject(read.value)) return wrong('it must be a JSON object');
  return { value: read.value as JsonDocument['value'], lost: read.lost };
}

/** Returns a problem for each dropped key. With `isRefused`, the message says that the whole file is not used. */
export function lossesOf({ lost }: JsonDocument, isRefused = false): readonly ManifestProblem[] {
  return lost.map((key) => ({ path: pathText(key.path), message: lossText(key, isRefused) }));
}

function wrong(message: string): ParsedJson {
  return { problems: [{ level: 'error', path: '', message }] };
}

function decode(bytes: Uint8Array): string | { problem: string } {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { problem: 'it must be UTF-8, got UTF-16: save it as UTF-8' };
  }
  return exactText(bytes) ?? { problem: 'it must be UTF-8: save it as UTF-8' };
}
