import { invalidOption } from '../../internal/options/validate.js';

/** What would be taken for a part of a key, a hash tag or a pattern, what does not show, and halves of characters, which UTF-8 cannot hold. */
const UNSAFE = /[%:{}*?[\]\\\s\p{Cc}\p{Cs}]/gu;

/** A text as one piece of a key's name: never empty, without colons and braces, and different for different texts. */
export function toKeyPiece(text: string): string {
  if (typeof text !== 'string') throw invalidOption('id', 'a string', text);
  if (text === '') return '%';
  return text.replace(UNSAFE, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text that `toKeyPiece` was given. */
export function fromKeyPiece(piece: string): string {
  if (piece === '%') return '';
  return piece.replace(/%([0-9a-f]{4})/g, (_match, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The names of the keys: all those of a session lie in one slot of a cluster, and so does the list of an extension. */
export class RedisKeys {
  private readonly prefix: string;

  /** `before` is what the client has before each of its keys. */
  constructor(prefix: string, before = '') {
    this.prefix = before + prefix.replace(/[%{}]/g, toKeyPiece);
  }

  /** The keys of a session's state, by the piece that stands for the session. */
  state(session: string): readonly string[] {
    const state = this.name(session, 'state');
    return [state, `${state}:entries`, `${state}:used`, `${state}:due`, `${state}:session-long`];
  }

  /** The key of a value that lives for a shorter time than its session. */
  value(session: string, member: string): string {
    return `${this.name(session, 'state')}:value:${member}`;
  }

  /** The sessions in which an extension has state, by the piece that stands for the extension. */
  sessions(extension: string): string {
    return this.name(extension, 'extension');
  }

  /** The head of a stored session, and its messages. */
  session(id: string): readonly [head: string, messages: string] {
    const head = this.name(toKeyPiece(id), 'session');
    return [head, `${head}:messages`];
  }

  private name(piece: string, kind: string): string {
    return `${this.prefix}:{${piece}}:${kind}`;
  }
}
