import { toJson } from '../../internal/json.js';
import { fold } from '../../internal/names-text.js';
import type { ShellHook } from './definition.js';

const DEEPEST = 200;

/**
 * Returns any value as JSON. Never throws. Like `JSON.stringify`, leaves out values that JSON cannot represent, but
 * writes bigints as strings and bytes as base64.
 */
export function jsonText(value: unknown, replacer: typeof replace = replace): string {
  try {
    return toJson(value, replacer) ?? 'null';
  } catch {
    // A circular reference, too many levels, or a getter that throws.
    return toJson(plainCopy(value, []), replacer) ?? 'null';
  }
}

function replace(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

function plainCopy(value: unknown, path: readonly object[]): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return replace('', value);
  if (path.includes(value)) return '[circular]';
  if (path.length >= DEEPEST) return '[too deep]';
  try {
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return JSON.parse(JSON.stringify(value, replace));
    const inner = [...path, value];
    if (Array.isArray(value)) return value.map((item) => plainCopy(item, inner));
    return Object.fromEntries(Object.keys(value).map((key) => [key, plainCopy(read(value, key), inner)]));
  } catch {
    return '[unreadable]';
  }
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]';
  }
}

const REDACTED = '[redacted]';

/**
 * Returns a copy in which the fields with these names are redacted. Spelling variants are equal: `apiKey`, `api_key`,
 * `API-KEY`.
 */
export function redact(value: unknown, names: readonly string[], ofText = (text: string) => text): unknown {
  if (names.length === 0) return value;
  const folded = new Set(names.map(fold));
  // Redacts while serializing. A separate recursive walk would overflow the stack on deep values that `JSON.stringify`
  // can write.
  const hide = (key: string, inner: unknown) => {
    if (folded.has(fold(key))) return REDACTED;
    return typeof inner === 'string' ? ofText(inner) : replace(key, inner);
  };
  return JSON.parse(jsonText(value, hide));
}

/** Returns a value as a hook reads it. Sensitive fields that the hook does not declare are redacted. */
export function shownTo(hook: ShellHook, value: unknown, sensitive: readonly string[]): unknown {
  const declared = new Set(hook.sensitive?.map(fold));
  return redact(
    value,
    sensitive.filter((name) => !declared.has(fold(name))),
  );
}

/** Returns the function that removes the secrets of the hook's extension and of the application from a string. */
export function redactorOf(
  hook: ShellHook,
  { redact }: { readonly redact?: ((text: string) => string) | undefined },
): (text: string) => string {
  return (text) => {
    const shown = hook.redact?.(text) ?? text;
    return redact?.(shown) ?? shown;
  };
}

/** Like `redact`, for a log: also redacts the fields of JSON that is written as a string. */
export function redactForLog(value: unknown, names: readonly string[]): unknown {
  const inJson = (text: string): string => {
    if (!/^\s*[[{]/.test(text)) return text;
    try {
      return jsonText(redact(JSON.parse(text), names, inJson));
    } catch {
      return text;
    }
  };
  return redact(value, names, inJson);
}
