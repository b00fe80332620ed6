import type { Logger } from '../../internal/logger.js';
import { isPlainObject } from '../../internal/plain-data.js';

const REDACTED = '[redacted]';
const MAX_DEPTH = 32;
/** Shorter values would match almost everywhere. */
const MIN_LENGTH = 4;

/** Redacts the values of sensitive settings. */
export class Redactor {
  private readonly forms = new Set<string>();

  /** Adds a sensitive value. It stays redacted even after the setting has changed. */
  learn(value: unknown): void {
    if (typeof value !== 'string' && typeof value !== 'number') return;
    const secret = String(value).trim();
    if (secret.length >= MIN_LENGTH) for (const form of formsOf(secret)) this.forms.add(form);
  }

  text(text: string): string {
    const spans = [...this.forms].flatMap((form) => spansOf(form, text));
    let shown = '';
    let from = 0;
    for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
      // Joins overlapping matches, because one secret may contain another secret.
      if (start >= from) shown += text.slice(from, start) + REDACTED;
      from = Math.max(from, end);
    }
    return shown + text.slice(from);
  }

  /** Returns a deep copy with sensitive values redacted. Getters are not called, and binary data is not searched. */
  copy<T>(value: T): T {
    return this.forms.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0 }) as T);
  }

  /** Returns a logger that redacts each message and its details before `current()` logs them. */
  logger(current: () => Logger): Logger {
    const log = (level: keyof Logger) => (message: string, details?: unknown) =>
      details === undefined
        ? current()[level](this.text(message))
        : current()[level](this.text(message), this.copy(details));
    return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  }

  private walk(value: unknown, walk: Walk): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : REDACTED;
    if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
    if (walk.depth > MAX_DEPTH) return REDACTED;
    return walk.seen.get(value) ?? this.walkObject(value, { ...walk, depth: walk.depth + 1 });
  }

  private walkObject(value: object, walk: Walk): unknown {
    if (value instanceof Set) return new Set([...value].map((item) => this.walk(item, walk)));
    if (value instanceof Map) {
      return new Map([...value].map(([key, item]) => [this.walk(key, walk), this.walk(item, walk)]));
    }
    const copy = emptyLike(value);
    if (copy === undefined) return this.walk(String(value), walk);
    walk.seen.set(value, copy);
    for (const key of Reflect.ownKeys(value)) {
      if (key === 'length' && Array.isArray(value)) continue;
      const { value: item, enumerable = false } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      const name = typeof key === 'string' ? this.text(key) : key;
      Object.defineProperty(copy, name, {
        value: this.walk(item, walk),
        enumerable,
        writable: true,
        configurable: true,
      });
    }
    return copy;
  }
}

/**
 * Returns the strings to redact for a secret: the secret itself, and its forms in a URL, in JSON and in Base64. In
 * Base64, only the whole secret is found.
 */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Without padding, Base64 is found with and without padding. The bytes are valid Unicode, unlike some strings.
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [secret, encodeURIComponent(bytes.toString()), JSON.stringify(secret).slice(1, -1), base64];
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function spansOf(form: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    spans.push({ start: at, end: at + form.length });
  }
  return spans;
}

interface Walk {
  readonly seen: Map<object, unknown>;
  readonly depth: number;
}

/**
 * Returns an empty object of the same kind. Undefined for an object that is more than its properties, such as a URL.
 */
function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (value instanceof DOMException) return undefined;
  if (value instanceof Error || isPlainObject(value)) return Object.create(Object.getPrototypeOf(value));
  return Object.keys(value).length > 0 ? {} : undefined;
}
