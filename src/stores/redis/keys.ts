import { invalidOption } from '../../internal/options/validate.js';

/**
 * Matches the characters that a key must not contain. They have a meaning in keys, hash tags or patterns, are
 * invisible, or are lone surrogates, which UTF-8 cannot encode.
 */
const UNSAFE = /[%:{}*?[\]\\\s\p{Cc}\p{Cs}]/gu;

/**
 * Encodes a string as one piece of a Redis key. The piece is never empty, has no colons or braces, and is different for
 * each string.
 */
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

/**
 * The Redis keys of a stored session: a hash with its fields, a list of its entries, and a hash with the ids of its
 * entries.
 */
export type SessionKeys = readonly [head: string, entries: string, ids: string];

/** The Redis keys of the log of a run: a hash with its fields, and a stream of its events. */
export type RunLogKeys = readonly [head: string, events: string];

/**
 * Builds the names of Redis keys. All keys of a session are in the same slot of a cluster, so that one script can use
 * them.
 */
export class RedisKeys {
  private readonly base: string;
  private readonly prefix: string;

  /** `before` is the key prefix of the client. Each key starts with it. */
  constructor(prefix: string, before = '') {
    this.base = prefix.replace(/[%{}]/g, toKeyPiece);
    this.prefix = before + this.base;
  }

  /** Returns the keys for the extension state of a session. `session` must be encoded with `toKeyPiece`. */
  state(session: string): readonly string[] {
    const state = this.name(session, 'state');
    return [state, `${state}:entries`, `${state}:used`, `${state}:due`, `${state}:session-long`];
  }

  /** Returns the Redis key of a single value, which expires before the other state of its session. */
  value(session: string, member: string): string {
    return `${this.name(session, 'state')}:value:${member}`;
  }

  /**
   * Returns the key of the index of the sessions with state of an extension. `extension` must be encoded with
   * `toKeyPiece`.
   */
  sessions(extension: string): string {
    return this.name(extension, 'extension');
  }

  session(id: string): SessionKeys {
    const head = this.name(toKeyPiece(id), 'session');
    return [head, `${head}:entries`, `${head}:ids`];
  }

  /**
   * Returns the channel that announces new posts of a session. It lacks the key prefix of the client, because ioredis
   * adds its prefix only to keys.
   */
  posts(id: string): string {
    return `${this.base}:{${toKeyPiece(id)}}:posts`;
  }

  runLog(run: string): RunLogKeys {
    const head = this.name(toKeyPiece(run), 'log');
    return [head, `${head}:events`];
  }

  /** Returns the channel that announces new events of a run, without the key prefix of the client. */
  events(run: string): string {
    return `${this.base}:{${toKeyPiece(run)}}:events`;
  }

  /** Returns the key of the index of an owner's sessions. `owner` must be encoded with `toKeyPiece`. */
  owner(owner: string): string {
    return this.name(owner, 'owner');
  }

  private name(piece: string, kind: string): string {
    return `${this.prefix}:{${piece}}:${kind}`;
  }
}
