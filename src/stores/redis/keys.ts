import { invalidOption } from '../../internal/options/validate.js';

/**
 * Matches characters with a meaning in keys, hash tags and patterns, and invisible characters. Also matches lone
 * surrogates, which UTF-8 cannot encode.
 */
const UNSAFE = /[%:{}*?[\]\\\s\p{Cc}\p{Cs}]/gu;

/** Encodes a string as one piece of a key. The piece is never empty, has no colons or braces, and is unique per string. */
export function toKeyPiece(text: string): string {
  if (typeof text !== 'string') throw invalidOption('id', 'a string', text);
  if (text === '') return '%';
  return text.replace(UNSAFE, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Decodes a piece that `toKeyPiece` encoded. */
export function fromKeyPiece(piece: string): string {
  if (piece === '%') return '';
  return piece.replace(/%([0-9a-f]{4})/g, (_match, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The keys of a stored session: its head, its entries, and the ids of its entries. */
export type SessionKeys = readonly [head: string, entries: string, ids: string];

/** The keys of the log of a run: its head, and its events. */
export type RunLogKeys = readonly [head: string, events: string];

/** Builds the names of keys. All keys of a session are in the same slot of a cluster. */
export class RedisKeys {
  private readonly base: string;
  private readonly prefix: string;

  /** `before` is the key prefix of the client. */
  constructor(prefix: string, before = '') {
    this.base = prefix.replace(/[%{}]/g, toKeyPiece);
    this.prefix = before + this.base;
  }

  /** Returns the keys of a session's state. `session` is a piece from `toKeyPiece`. */
  state(session: string): readonly string[] {
    const state = this.name(session, 'state');
    return [state, `${state}:entries`, `${state}:used`, `${state}:due`, `${state}:session-long`];
  }

  /** Returns the key of a value that expires before its session. */
  value(session: string, member: string): string {
    return `${this.name(session, 'state')}:value:${member}`;
  }

  /** Returns the key of the index of an extension. `extension` is a piece from `toKeyPiece`. */
  sessions(extension: string): string {
    return this.name(extension, 'extension');
  }

  session(id: string): SessionKeys {
    const head = this.name(toKeyPiece(id), 'session');
    return [head, `${head}:entries`, `${head}:ids`];
  }

  /**
   * Returns the channel of a session's posts, without the prefix of the client, because ioredis adds its prefix only to
   * keys.
   */
  posts(id: string): string {
    return `${this.base}:{${toKeyPiece(id)}}:posts`;
  }

  runLog(run: string): RunLogKeys {
    const head = this.name(toKeyPiece(run), 'log');
    return [head, `${head}:events`];
  }

  /** Returns the channel of the events of a run, without the prefix of the client. */
  events(run: string): string {
    return `${this.base}:{${toKeyPiece(run)}}:events`;
  }

  /** Returns the key of the index of an owner's sessions. `owner` is a piece from `toKeyPiece`. */
  owner(owner: string): string {
    return this.name(owner, 'owner');
  }

  private name(piece: string, kind: string): string {
    return `${this.prefix}:{${piece}}:${kind}`;
  }
}
