import { fold } from '../../internal/fold.js';
import type { Logger } from '../../internal/logger.js';
import type { SettingValue } from '../../skills/skill.js';
import type { SettingDefinition } from '../extension.js';
import { MIN_LENGTH, secretForms } from './secret-forms.js';

const REDACTED = '[redacted]';
const MAX_DEPTH = 32;

/** Takes sensitive values out of whatever is shown or logged: by the value, and by its setting's name as a key. */
export class Redactor {
  /** What gives secrets away, by its first characters. */
  private readonly forms = new Map<string, Set<string>>();
  private readonly keys = new Map<string, RegExp>();

  /** Remembers a sensitive setting and its value. What was learnt once is never shown again. */
  learn(setting: SettingDefinition, value: SettingValue | undefined): void {
    for (const name of [setting.name, setting.envVar]) {
      const key = fold(name ?? '');
      if (key !== '' && !this.keys.has(key)) this.keys.set(key, keyPattern(key));
    }
    if (value === undefined || typeof value === 'boolean') return;
    for (const form of secretForms(String(value))) {
      const start = form.slice(0, MIN_LENGTH);
      this.forms.set(start, (this.forms.get(start) ?? new Set()).add(form));
    }
  }

  /** A string without sensitive values, also without those that follow the name of their setting. */
  text(text: string): string {
    let shown = this.values(text);
    const folded = this.keys.size === 0 ? '' : fold(shown);
    for (const [key, pattern] of this.keys) {
      if (folded.includes(key)) shown = shown.replace(pattern, `$1${REDACTED}`);
    }
    return shown;
  }

  /** A string without sensitive values. Keys are not looked at. */
  values(text: string): string {
    if (this.forms.size === 0) return text;
    let shown = '';
    let end = 0;
    for (let at = 0; at + MIN_LENGTH <= text.length; at += 1) {
      const length = this.lengthAt(text, at);
      if (length === 0) continue;
      // What overlaps or adjoins goes as one.
      if (at > end || shown === '') shown += text.slice(end, at) + REDACTED;
      end = Math.max(end, at + length);
    }
    return shown + text.slice(end);
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

  private lengthAt(text: string, at: number): number {
    let longest = 0;
    for (const form of this.forms.get(text.slice(at, at + MIN_LENGTH)) ?? []) {
      if (form.length > longest && text.startsWith(form, at)) longest = form.length;
    }
    return longest;
  }

  private walk(value: unknown, walk: Walk): unknown {
    if (typeof value === 'string') return walk.byKey ? this.text(value) : this.values(value);
    if (typeof value === 'bigint' || typeof value === 'number') return this.unless(String(value), value);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const known = walk.seen.get(value);
    if (known !== undefined) return known;
    if (walk.depth > MAX_DEPTH) return REDACTED;
    if (ArrayBuffer.isView(value)) {
      return this.unless(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(), value);
    }
    return this.walkObject(value, { ...walk, depth: walk.depth + 1 });
  }

  /** The value, if nothing of the string that it stands for is sensitive. */
  private unless(text: string, value: unknown): unknown {
    return this.values(text) === text ? value : REDACTED;
  }

  private walkObject(value: object, walk: Walk): unknown {
    const copy = emptyLike(value);
    if (copy === undefined) return this.text(attempt(() => String(value)));
    walk.seen.set(value, copy);
    if (value instanceof Map && copy instanceof Map) {
      for (const [key, item] of value) copy.set(this.walk(key, walk), this.member(key, item, walk));
    } else if (value instanceof Set && copy instanceof Set) {
      for (const item of value) copy.add(this.walk(item, walk));
    }
    const names = Reflect.ownKeys(value) as (keyof typeof value)[];
    for (const key of names.filter((name) => !(Array.isArray(value) && name === 'length'))) {
      const enumerable = Object.prototype.propertyIsEnumerable.call(value, key);
      const item = this.member(
        key,
        attempt(() => value[key]),
        walk,
      );
      const name = typeof key === 'string' ? this.values(key) : key;
      Object.defineProperty(copy, name, { value: item, enumerable, writable: true, configurable: true });
    }
    return copy;
  }

  private member(key: unknown, item: unknown, walk: Walk): unknown {
    const isNamed = walk.byKey && typeof key === 'string' && this.keys.has(fold(key));
    return isNamed && item !== undefined && typeof item !== 'object' ? REDACTED : this.walk(item, walk);
  }
}

/** The state of a walk through a value. */
interface Walk {
  readonly seen: Map<object, unknown>;
  readonly depth: number;
  readonly byKey: boolean;
}

/** `name: value`, `name=value` and `"name": "value"`. */
function keyPattern(key: string): RegExp {
  const letters = [...key].join('[^\\p{L}\\p{N}\\n]{0,3}');
  const text = String.raw`(?<![\p{L}\p{N}])(${letters}["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}"']+)`;
  return new RegExp(text, 'giu');
}

/** Undefined for an object that is more than its properties, such as a URL. */
function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof DOMException) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = value instanceof Error || prototype === null || prototype === Object.prototype;
  if (isPlain) return Object.create(prototype as object);
  return Object.keys(value).length > 0 ? {} : undefined;
}

function attempt<T>(read: () => T): T | typeof REDACTED {
  try {
    return read();
  } catch {
    return REDACTED;
  }
}
