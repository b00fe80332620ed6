import { Buffer } from 'node:buffer';
import { isObject, type JsonValue } from '../../internal/json.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { BlobStoreError, StepDataError } from '../error.js';
import type { BlobStore } from '../step.js';

/** The key that marks a stored object as a replacement, such as for a byte array, which JSON cannot represent. */
const MARK = '$keelson';

/** Decides where the byte arrays in the result of a step are stored. */
export interface CodecOptions {
  readonly blobs?: BlobStore | undefined;
  /** Byte arrays above this length are stored in `blobs`. */
  readonly maxInlineBytes: number;
}

/** The name and the key of the step whose value is stored or restored. */
export interface StepRef {
  readonly name: string;
  readonly key: string;
}

/** Converts the results of steps to JSON and back. */
export class Codec {
  constructor(private readonly options: CodecOptions) {}

  /**
   * Converts a value to JSON. A byte array becomes base64 or, if it is large, a reference to the blob store.
   *
   * Throws StepDataError if the value is not JSON. Rejects with BlobStoreError if the blob store fails. Returns a
   * promise only if it must convert something. Otherwise returns the value itself, not a copy.
   */
  encode(value: unknown, step: StepRef): Awaitable<JsonValue> {
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return null;
    return isBare(value) ? (value as JsonValue) : this.packed(value, step);
  }

  /** Restores a value that `encode` has converted. Returns a promise only if bytes must be read from the blob store. */
  decode(json: JsonValue, step: StepRef): Awaitable<unknown> {
    if (!isObject(json) || json[MARK] !== 'packed') return json;
    return unpack(json.value, (key) => this.blobOf(key, step));
  }

  private async packed(value: unknown, step: StepRef): Promise<JsonValue> {
    const large: [key: string, bytes: Uint8Array][] = [];
    const json = pack(value, (bytes) => {
      const { blobs, maxInlineBytes } = this.options;
      if (blobs === undefined || bytes.length <= maxInlineBytes)
        return { [MARK]: 'bytes', base64: Buffer.from(bytes).toString('base64') };
      const key = `${step.key}/${large.length + 1}`;
      large.push([key, bytes]);
      return { [MARK]: 'blob', key };
    });
    const text = stringify(json, step);
    for (const [key, bytes] of large) await this.inBlobs(key, step, (blobs) => blobs.put(key, bytes));
    return { [MARK]: 'packed', value: text === undefined ? null : JSON.parse(text) };
  }

  private async blobOf(key: string, step: StepRef): Promise<Uint8Array> {
    const bytes = await this.inBlobs(key, step, (blobs) => blobs.get(key));
    if (bytes !== undefined) return bytes;
    throw new StepDataError(
      step.name,
      `refers to bytes that \`blobs\` does not have: "${key}". Pass the store that the first attempt had.`,
    );
  }

  private async inBlobs<T>(key: string, { name }: StepRef, access: (blobs: BlobStore) => Promise<T>) {
    try {
      return this.options.blobs && (await access(this.options.blobs));
    } catch (error) {
      throw new BlobStoreError(name, key, error);
    }
  }
}

/**
 * Values nested deeper than this are not converted. They are probably part of a cycle, which `JSON.stringify` then
 * reports.
 */
const MAX_DEPTH = 1_000;

/**
 * True if a value is JSON already and has no key `$keelson`, so that nothing must be converted. Allocates no memory.
 */
function isBare(value: unknown, depth = 0): boolean {
  if (typeof value === 'bigint' || depth > MAX_DEPTH) return false;
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof Uint8Array || typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  for (const key in value) {
    if (key === MARK || !isBare((value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
}

function stringify(json: unknown, step: StepRef): string | undefined {
  try {
    return JSON.stringify(json);
  } catch (cause) {
    const advice = 'Return strings, numbers, booleans, null, arrays, plain objects or bytes.';
    throw new StepDataError(step.name, `is not JSON: ${(cause as Error).message}. ${advice}`, { cause });
  }
}

/**
 * Replaces byte arrays with marked objects. An object that has the marking key itself is wrapped, so that `unpack`
 * restores it.
 */
function pack(value: unknown, packBytes: (bytes: Uint8Array) => object, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (value instanceof Uint8Array) return packBytes(value);
  if (Array.isArray(value)) return value.map((item) => pack(item, packBytes, depth + 1));
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  const packed = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, pack(item, packBytes, depth + 1)]),
  );
  return MARK in packed ? { [MARK]: 'object', value: packed } : packed;
}

/** Reverses `pack`. Returns a promise only if a blob must be read. */
function unpack(json: unknown, blobOf: (key: string) => Promise<Uint8Array>): unknown {
  if (Array.isArray(json))
    return joined(
      json.map((item) => unpack(item, blobOf)),
      (items) => items,
    );
  if (!isObject(json)) return json;
  if (json[MARK] === 'bytes') return Uint8Array.from(Buffer.from(String(json.base64), 'base64'));
  if (json[MARK] === 'blob') return blobOf(String(json.key));
  const source = json[MARK] === 'object' ? (json.value as object) : json;
  const keys = Object.keys(source);
  return joined(
    Object.values(source).map((item) => unpack(item, blobOf)),
    (items) => Object.fromEntries(items.map((item, index) => [keys[index] as string, item])),
  );
}

function joined(items: readonly unknown[], make: (items: readonly unknown[]) => unknown): unknown {
  return items.some((item) => isPromise(item as object)) ? Promise.all(items).then(make) : make(items);
}
