import { Buffer } from 'node:buffer';
import { isObject, type JsonValue } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import { BlobStoreError, StepDataError } from '../error.js';
import type { BlobStore } from '../step.js';

/** Marks an object that stands for a value that JSON cannot hold. */
const MARK = '$keelson';

/** How the bytes of a step are stored. */
export interface CodecOptions {
  readonly blobs?: BlobStore | undefined;
  /** Larger arrays of bytes go to `blobs`. */
  readonly maxInlineBytes: number;
}

/** The step that a value belongs to. */
export interface StepRef {
  readonly name: string;
  readonly key: string;
}

/** Converts the values of steps to JSON and back. */
export class Codec {
  constructor(private readonly options: CodecOptions) {}

  /**
   * Converts a value to JSON. Bytes become base64, or a reference to the blob store. Throws StepDataError, or BlobStoreError
   * if the store fails.
   */
  async encode(value: unknown, step: StepRef): Promise<JsonValue> {
    if (isBare(value)) return bareJson(value, step);
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
    return text === undefined ? null : JSON.parse(text);
  }

  /** Restores a value of `encode`. */
  async decode(json: JsonValue, step: StepRef): Promise<unknown> {
    if (isBare(json)) return json;
    const value = unpack(json, (key) => this.blobOf(key, step));
    return isPromise(value) ? await value : value;
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

/** Returns a value that needs no packing, after a check that JSON can hold it. The engine converts it again. */
function bareJson(value: unknown, step: StepRef): JsonValue {
  return stringify(value, step) === undefined ? null : (value as JsonValue);
}

/** Deeper values count as bare, so that `JSON.stringify` reports a cycle. */
const MAX_DEPTH = 1_000;

/** True if a value has neither bytes nor objects that look like a marked object. Allocates nothing. */
function isBare(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return true;
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

/** Replaces bytes by marked objects. Objects that look like a marked object are wrapped. */
function pack(value: unknown, packBytes: (bytes: Uint8Array) => object): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return packBytes(value);
  if (Array.isArray(value)) return value.map((item) => pack(item, packBytes));
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  const packed = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item, packBytes)]));
  return MARK in packed ? { [MARK]: 'object', value: packed } : packed;
}

/** Undoes `pack`. Returns a promise only if a blob must be read. */
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
