import type { Logger } from '../../internal/logger.js';
import type { SettingValue } from '../../skills/skill.js';
import type { SettingDefinition } from '../extension.js';
import { plain } from './reference.js';
import { type SecretForm, secretForms } from './secret-form.js';

/** What stands where a sensitive value was. */
const REDACTED = '[redacted]';

const MAX_DEPTH = 32;

/** Takes sensitive values out of whatever is shown or logged: by the value, wherever it stands, and by the key. */
export class Redactor {
  private readonly forms = new Map<string, SecretForm>();
  private readonly keys = new Map<string, () => RegExp>();
  private sorted: readonly SecretForm[] = [];

  /** Remembers a sensitive setting and its value. What was learnt once is never shown again. */
  learn(setting: SettingDefinition, value: SettingValue | undefined): void {
    for (const name of [setting.name, setting.envVar]) if (name !== undefined) this.learnKey(name);
    for (const form of secretForms(value)) if (!this.forms.has(form.source)) this.forms.set(form.source, form);
  }

  /** A text without sensitive values, also those that stand behind the name of their setting. */
  text(text: string): string {
    let shown = this.values(text);
    if (this.keys.size === 0) return shown;
    const folded = plain(shown);
    for (const [key, pattern] of this.keys) {
      if (folded.includes(key)) shown = shown.replace(pattern(), `$1${REDACTED}`);
    }
    return shown;
  }

  /** A text without sensitive values. Keys are not looked at. */
  values(text: string): string {
    // Longest first: one may hold another.
    if (this.sorted.length !== this.forms.size) {
      this.sorted = [...this.forms.values()].sort((a, b) => b.source.length - a.source.length);
    }
    const shown = this.sorted.reduce((left, form) => form.replaceIn(left, REDACTED), text);
    // Of a long one each piece was found by itself.
    return shown === text ? text : shown.replace(/(?:\[redacted\]){2,}/g, REDACTED);
  }

  /** A copy of anything without sensitive values, by value and by key. */
  copy<T>(value: T): T {
    return this.keys.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: true }) as T);
  }

  /** A copy of anything without sensitive values. Keys are not looked at. */
  copyValues<T>(value: T): T {
    return this.forms.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: false }) as T);
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
    let pattern: RegExp | undefined;
    this.keys.set(key, () => {
      pattern ??= keyPattern(key);
      return pattern;
    });
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

/** `name: value`, `name=value` and `"name": "value"`. */
function keyPattern(key: string): RegExp {
  const letters = [...key].join('[^\\p{L}\\p{N}\\n]{0,3}');
  const text = String.raw`(?<![\p{L}\p{N}])(${letters}["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}"']+)`;
  return new RegExp(text, 'giu');
}

/** What is on the way through a value. */
interface Walk {
  readonly seen: Map<object, unknown>;
  readonly depth: number;
  readonly byKey: boolean;
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
