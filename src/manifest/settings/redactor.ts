import { isObject } from '../../internal/json.js';
import type { Logger } from '../../internal/logger.js';
import { fold } from '../../internal/names-text.js';
import { isPlainObject } from '../../internal/plain-data.js';
import type { SettingDefinition } from '../extension.js';
import { Secret, searchedText, secretsOf } from './secret-forms.js';

const REDACTED = '[redacted]';
const MAX_DEPTH = 32;

/** Redacts sensitive settings: their values, and any value under a key with the setting's name. */
export class Redactor {
  /** Secrets by value. Values that are too short are redacted only by the name of their setting. */
  private readonly secrets = new Map<string, Secret>();
  private readonly keys = new Map<string, RegExp>();

  /** Adds a sensitive setting and its value. A value stays redacted even after the setting has changed. */
  learn(setting: SettingDefinition, value: unknown): void {
    for (const name of [setting.name, setting.envVar]) {
      const key = fold(name ?? '');
      if (key !== '' && !this.keys.has(key)) this.keys.set(key, keyPattern(key));
    }
    if (typeof value !== 'string' && typeof value !== 'number') return;
    for (const secret of secretsOf(String(value))) {
      if (!this.secrets.has(secret)) this.secrets.set(secret, new Secret(secret));
    }
  }

  /** Returns a string without sensitive values, and without any value that follows the name of a sensitive setting. */
  text(text: string): string {
    let shown = this.values(text);
    const folded = this.keys.size === 0 ? '' : fold(shown);
    for (const [key, pattern] of this.keys) {
      if (folded.includes(key)) shown = shown.replace(pattern, `$1${REDACTED}`);
    }
    return shown;
  }

  /** Returns a string without sensitive values. Names of settings are ignored. */
  values(text: string): string {
    if (this.secrets.size === 0) return text;
    const searched = searchedText(text);
    const spans = [...this.secrets.values()].flatMap((secret) => secret.spansIn(searched));
    let shown = '';
    let from = 0;
    for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
      // Overlapping spans are one: a secret may contain another.
      if (start >= from) shown += text.slice(from, start) + REDACTED;
      from = Math.max(from, end);
    }
    return shown + text.slice(from);
  }

  /** Returns a copy without sensitive values, by value and by key. Does not call getters, and keeps bytes. */
  copy<T>(value: T): T {
    return this.keys.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: true }) as T);
  }

  /** Same as `copy`, but by value only. */
  copyValues<T>(value: T): T {
    return this.secrets.size === 0 ? value : (this.walk(value, { seen: new Map(), depth: 0, byKey: false }) as T);
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
    if (typeof value === 'string') return walk.byKey ? this.text(value) : this.values(value);
    if (typeof value === 'number') return this.values(String(value)) === String(value) ? value : REDACTED;
    if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
    if (walk.depth > MAX_DEPTH) return REDACTED;
    return walk.seen.get(value) ?? this.walkObject(value, { ...walk, depth: walk.depth + 1 });
  }

  private walkObject(value: object, walk: Walk): unknown {
    if (value instanceof Set) return new Set([...value].map((item) => this.walk(item, walk)));
    if (value instanceof Map) {
      return new Map([...value].map(([key, item]) => [this.walk(key, walk), this.member(key, item, walk)]));
    }
    const copy = emptyLike(value);
    if (copy === undefined) return this.walk(String(value), walk);
    walk.seen.set(value, copy);
    const whole = Array.isArray(value) ? this.joinSplit(value) : value;
    for (const key of Reflect.ownKeys(whole)) {
      if (key === 'length' && Array.isArray(value)) continue;
      const { value: item, enumerable = false } = Object.getOwnPropertyDescriptor(whole, key) ?? {};
      const [name, shown] = [typeof key === 'string' ? this.values(key) : key, this.member(key, item, walk)];
      Object.defineProperty(copy, name, { value: shown, enumerable, writable: true, configurable: true });
    }
    return copy;
  }

  /** Joins the text parts of a message if a secret begins in one part and ends in a later one. A reader may join them too. */
  private joinSplit(parts: readonly unknown[]): readonly unknown[] {
    const texts = parts.filter(isTextPart);
    const joined = texts.map(({ text }) => text).join('');
    const shown = texts.length < 2 ? joined : this.values(joined);
    if (shown === joined || shown === texts.map(({ text }) => this.values(text)).join('')) return parts;
    const [first] = texts;
    const others = parts.filter((part) => part === first || !isTextPart(part));
    return others.map((part) => (part === first ? { ...first, text: joined } : part));
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

/** Matches `name: value`, `name=value` and `"name": "value"`. */
function keyPattern(key: string): RegExp {
  const letters = [...key].join('[^\\p{L}\\p{N}\\n]{0,3}');
  const text = String.raw`(?<![\p{L}\p{N}])(${letters}["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}"']+)`;
  return new RegExp(text, 'giu');
}

interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

function isTextPart(part: unknown): part is TextPart {
  return isObject(part) && part.type === 'text' && typeof part.text === 'string';
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
