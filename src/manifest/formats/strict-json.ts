import { isObject, type JsonValue } from '../../internal/json.js';
import { readJsonShape } from '../../internal/json-keys.js';
import { type ManifestProblem, pathText } from '../../internal/problem.js';

const MAX_DEPTH = 64;
/** No manifest that anybody wrote is longer. */
export const MAX_JSON_BYTES = 1_048_576;

/** A JSON object, or what is wrong with the text. */
export type ParsedJson = JsonDocument | { readonly problems: readonly ManifestProblem[] };

/** A JSON object as it was read. */
export interface JsonDocument {
  readonly value: { readonly [key: string]: JsonValue };
  /** The keys that an object in it has twice: all but the last are lost. */
  readonly repeated: readonly ManifestProblem[];
}

/** Reads bytes as one JSON object in UTF-8, without a byte order mark, at most 1 MiB long and 64 deep, without `__proto__`. */
export function parseJsonObject(bytes: Uint8Array): ParsedJson {
  if (bytes.length > MAX_JSON_BYTES) return wrong(`it has ${bytes.length} bytes, more than ${MAX_JSON_BYTES}`);
  const text = decode(bytes);
  if (typeof text !== 'string') return wrong(text.problem);
  if (text.trim() === '') return wrong('it is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return wrong(`it is no JSON: ${(error as Error).message}`);
  }
  // What walks the value may not run out of stack; the parser needs none.
  const { depth, repeated } = readJsonShape(text);
  const keys = new Set(repeated.map(({ key }) => key));
  if (depth > MAX_DEPTH) return wrong(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (!isObject(value)) return wrong('it holds no JSON object');
  const forbidden = pathsOfProto(value);
  if (forbidden.length > 0) {
    return { problems: forbidden.map((path) => ({ path: pathText(path), message: 'no key may be `__proto__`' })) };
  }
  return {
    value: value as { readonly [key: string]: JsonValue },
    repeated: [...keys].map((path) => ({ path, message: 'it is there twice in one object: only the last one counts' })),
  };
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

function pathsOfProto(value: unknown, path: readonly PropertyKey[] = []): readonly PropertyKey[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return key === '__proto__' ? [[...path, step]] : pathsOfProto(inner, [...path, step]);
  });
}
