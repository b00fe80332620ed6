import type { Logger } from '../internal/logger.js';
import type { SettingDefinition, SettingValue } from './extension.js';
import { plain } from './setting-reference.js';

/** What stands where a sensitive value was. */
export const REDACTED = '[redacted]';

/** Shorter ones would be found everywhere; they are withheld by the names of their settings alone. */
const MIN_LENGTH = 4;
const MAX_DEPTH = 32;

/** Takes sensitive values out of whatever is shown or logged: by the value, wherever it stands, and by the key. */
export class Redactor {
  private readonly secrets = new Set<string>();
  private readonly keys = new Map<string, RegExp>();
  private pattern: RegExp | undefined = undefined;

  /** Remembers a sensitive setting and its value. What was learnt once is never shown again. */
  learn(setting: SettingDefinition, value: SettingValue | undefined): void {
    for (const name of [setting.name, setting.envVar]) if (name !== undefined) this.learnKey(name);
    for (const text of formsOf(value)) this.secrets.add(text);
    // Longest first: one may hold another.
    const texts = [...this.secrets].sort((a, b) => b.length - a.length).map(literal);
    this.pattern = texts.length === 0 ? undefined : new RegExp(texts.join('|'), 'g');
  }

  /** Whether there is a value to take out. */
  get hasSecrets(): boolean {
    return this.pattern !== undefined;
  }

  /** A text without sensitive values, also those that stand behind the name of their setting. */
  text(text: string): string {
    let shown = this.values(text);
    for (const pattern of this.keys.values()) shown = shown.replace(pattern, `$1${REDACTED}`);
    return shown;
  }

  /** A text without sensitive values. Keys are not looked at. */
  values(text: string): string {
    return this.pattern === undefined ? text : text.replace(this.pattern, REDACTED);
  }

  /** A copy of anything without sensitive values. What has none in it may be given back as it is. */
  copy<T>(value: T): T {
    return this.keys.size === 0 ? value : (this.walk(value, new Map(), 0) as T);
  }

  /** A logger that tells `logger` nothing sensitive. */
  logger(logger: Logger): Logger {
    const tell = (level: keyof Logger) => (message: string, details?: unknown) =>
      details === undefined ? logger[level](this.text(message)) : logger[level](this.text(message), this.copy(details));
    return { debug: tell('debug'), info: tell('info'), warn: tell('warn'), error: tell('error') };
  }

  private learnKey(name: string): void {
    const key = plain(name);
    if (key === '' || this.keys.has(key)) return;
    const letters = [...key].map(literal).join('[^\\p{L}\\p{N}\\n]{0,3}');
    // `name: value`, `name=value` and `"name": "value"`.
    const text = String.raw`(?<![\p{L}\p{N}])(${letters}["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}"']+)`;
    this.keys.set(key, new RegExp(text, 'giu'));
  }

  private walk(value: unknown, seen: Map<object, unknown>, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'bigint' || typeof value === 'number')
      return this.values(String(value)) === String(value) ? value : REDACTED;
    if (typeof value !== 'object' || value === null) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) return REDACTED;
    if (ArrayBuffer.isView(value)) return this.bytes(value);
    const copy = emptyLike(value);
    if (copy === undefined) return this.text(shownAs(value));
    seen.set(value, copy);
    const inner = (item: unknown) => this.walk(item, seen, depth + 1);
    if (value instanceof Map) {
      for (const [key, item] of value) (copy as Map<unknown, unknown>).set(inner(key), this.member(key, item, inner));
    } else if (value instanceof Set) for (const item of value) (copy as Set<unknown>).add(inner(item));
    for (const key of Reflect.ownKeys(value)) this.copyMember(value, copy, { key, inner });
    return copy;
  }

  private copyMember(
    from: object,
    to: object,
    { key, inner }: { key: PropertyKey; inner: (item: unknown) => unknown },
  ) {
    const { enumerable = true } = Object.getOwnPropertyDescriptor(from, key) ?? {};
    const name = typeof key === 'string' ? this.text(key) : key;
    if (Array.isArray(from) && key === 'length') return;
    Object.defineProperty(to, name, {
      value: this.member(key, read(from, key), inner),
      enumerable,
      writable: true,
      configurable: true,
    });
  }

  private member(key: unknown, item: unknown, inner: (item: unknown) => unknown): unknown {
    const isSecret =
      typeof key === 'string' && this.keys.has(plain(key)) && item !== undefined && typeof item !== 'object';
    return isSecret ? REDACTED : inner(item);
  }

  private bytes(view: ArrayBufferView): unknown {
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return this.values(text) === text ? view : REDACTED;
  }
}

/** How a value may turn up: as it is, in JSON, in a URL, in Base64. */
function formsOf(value: SettingValue | undefined): string[] {
  const text = value === undefined || typeof value === 'boolean' ? '' : String(value);
  if (text.length < MIN_LENGTH) return [];
  const lines = text.split(/\r?\n/).filter((line) => line.trim().length >= 16);
  const base64 = btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
  return [text, text.trim(), JSON.stringify(text).slice(1, -1), encode(text), base64, ...lines].filter(
    (form) => form.length >= MIN_LENGTH,
  );
}

/** A text with half a surrogate pair has no place in a URL. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Undefined for what is more than its properties, such as a date or a URL. */
function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  const prototype: unknown = Object.getPrototypeOf(value);
  if (value instanceof Error || prototype === null || prototype === Object.prototype)
    return Object.create(prototype as object);
  return Object.keys(value).length > 0 ? {} : undefined;
}

function shownAs(value: object): string {
  try {
    return value instanceof Date ? value.toISOString() : String(value);
  } catch {
    return REDACTED;
  }
}

function read(from: object, key: PropertyKey): unknown {
  try {
    return (from as Record<PropertyKey, unknown>)[key];
  } catch {
    return REDACTED;
  }
}
