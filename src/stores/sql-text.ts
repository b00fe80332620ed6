import { createHash } from 'node:crypto';
import { invalidOption } from '../internal/options/validate.js';
import { utf8Bytes } from '../state/state-key.js';

/**
 * The maximum length of a key in bytes. Longer keys are hashed, because an index of PostgreSQL accepts at most 2,700
 * bytes.
 */
const MAX_KEY_BYTES = 600;

/**
 * Encodes a string for an SQL column of type text, which cannot store NUL or lone surrogates. Most strings do not
 * change.
 */
export function toSqlText(text: string): string {
  if (typeof text !== 'string') throw invalidOption('id', 'a string', text);
  return text.replace(/[\\\0\p{Cs}]/gu, (unit) =>
    unit === '\\' ? '\\\\' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Encodes a string for an SQL column. Null and undefined become NULL. */
export function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : toSqlText(text);
}

/** Decodes a string that `toSqlText` encoded. */
export function fromSqlText(text: string): string {
  return text.replace(/\\(\\|u([0-9a-f]{4}))/g, (_match, _unit, code: string | undefined) =>
    code === undefined ? '\\' : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Encodes a string as a key that is short enough for an SQL index. Different strings get different keys. */
export function toSqlKey(text: string): string {
  const encoded = toSqlText(text);
  if (utf8Bytes(encoded) <= MAX_KEY_BYTES) return encoded;
  // `toSqlText` never writes a backslash before `#`.
  return `\\#${createHash('sha256').update(encoded).digest('hex')}`;
}
