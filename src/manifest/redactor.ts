import type { Logger } from '../internal/logger.js';
import type { SettingDefinition, SettingValue } from './extension.js';
import { plain } from './setting-reference.js';

/** What stands where a sensitive value was. */
const REDACTED = '[redacted]';

/** Shorter ones would be found everywhere; they are withheld by the names of their settings alone. */
const MIN_LENGTH = 4;
const MAX_DEPTH = 32;

/** Takes sensitive values out of whatever is shown or logged: by the value, wherever it stands, and by the key. */
export class Redactor {
  private readonly secrets = new Set<string>();
  private readonly keys = new Map<string, RegExp>();
  private made: { readonly count: number; readonly pattern: RegExp | undefined } = { count: 0, pattern: undefined };

  /** Remembers a sensitive setting and its value. What was learnt once is never shown again. */
  learn(setting: SettingDefinition, value: SettingValue | undefined): void {
    for (const name of [setting.name, setting.envVar]) if (name !== undefined) this.learnKey(name);
    for (const text of formsOf(value)) this.secrets.add(text);
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

  /** A copy of anything without sensitive values, by value and by key. */
  copy<T>(value: T): T {
    return this.keys.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: true }) as T);
  }

  /** A copy of anything without sensitive values. Keys are not looked at. */
  copyValues<T>(value: T): T {
    return this.pattern === undefined ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: false }) as T);
  }

  /** A logger that tells `logger` nothing sensitive. */
  logger(logger: Logger): Logger {
    const tell = (level: keyof Logger) => (message: string, details?: unknown) =>
      details === undefined ? logger[level](this.text(message)) : logger[level](this.text(message), this.copy(details));
    return { debug: tell('debug'), info: tell('info'), warn: tell('warn'), error: tell('error') };
  }

  /** Of all secrets; made as it is needed, since there may be many of them to learn first. */
  private get pattern(): RegExp | undefined {
    const { size } = this.secrets;
    if (this.made.count !== size) {
      // Longest first: one may hold another.
      const texts = [...this.secrets].sort((a, b) => b.length - a.length).map(literal);
      this.made = { count: size, pattern: new RegExp(texts.join('|'), 'g') };
    }
    return this.made.pattern;
  }

  private learnKey(name: string): void {
    const key = plain(name);
    if (key === '' || this.keys.has(key)) return;
    const letters = [...key].map(literal).join('[^\\p{L}\\p{N}\\n]{0,3}');
    // `name: value`, `name=value` and `"name": "value"`.
    const text = String.raw`(?<![\p{L}\p{N}])(${letters}["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}"']+)`;
    this.keys.set(key, new RegExp(text, 'giu'));
  }

  private walk(value: unknown, walk: Walk): unknown {
    if (typeof value === 'string') return walk.byKey ? this.text(value) : this.values(value);
    if (typeof value === 'bigint' || typeof value === 'number') {
      return this.values(String(value)) === String(value) ? value : REDACTED;
    }
    if (typeof value !== 'object' || value === null) return value;
    const known = walk.seen.get(value);
    if (known !== undefined) return known;
    if (walk.depth > MAX_DEPTH) return REDACTED;
    if (ArrayBuffer.isView(value)) return this.bytes(value);
    return this.walkObject(value, { ...walk, depth: walk.depth + 1 });
  }

  private walkObject(value: object, walk: Walk): unknown {
    const copy = emptyLike(value);
    if (copy === undefined) return value instanceof Date ? value : this.text(shownAs(value));
    walk.seen.set(value, copy);
    if (value instanceof Map && copy instanceof Map) {
      for (const [key, item] of value) copy.set(this.walk(key, walk), this.member(key, item, walk));
    } else if (value instanceof Set && copy instanceof Set) {
      for (const item of value) copy.add(this.walk(item, walk));
    }
    for (const key of Reflect.ownKeys(value)) {
      if (Array.isArray(value) && key === 'length') continue;
      const { enumerable = true } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      const property = { enumerable, writable: true, configurable: true };
      const name = typeof key === 'string' ? this.values(key) : key;
      Object.defineProperty(copy, name, { ...property, value: this.member(key, read(value, key), walk) });
    }
    return copy;
  }

  private member(key: unknown, item: unknown, walk: Walk): unknown {
    const isNamed = walk.byKey && typeof key === 'string' && this.keys.has(plain(key));
    return isNamed && item !== undefined && typeof item !== 'object' ? REDACTED : this.walk(item, walk);
  }

  private bytes(view: ArrayBufferView): unknown {
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return this.values(text) === text ? view : REDACTED;
  }
}

/** What is on the way through a value. */
interface Walk {
  readonly seen: Map<object, unknown>;
  readonly depth: number;
  readonly byKey: boolean;
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
  if (value instanceof DOMException) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (value instanceof Error || prototype === null || prototype === Object.prototype)
    return Object.create(prototype as object);
  return Object.keys(value).length > 0 ? {} : undefined;
}

function shownAs(value: object): string {
  try {
    return String(value);
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
