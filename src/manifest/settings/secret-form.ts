import type { SettingValue } from '../../skills/skill.js';

/** Shorter ones would be found everywhere; they are withheld by the names of their settings alone. */
const MIN_LENGTH = 4;
/** A line of a key in several lines is a secret, too. */
const MIN_LINE = 16;
/** What a regular expression can be made of is limited: of a long secret each piece is found by itself. */
const MAX_PIECE = 256;

/** One way in which a secret, or a piece of it, may turn up. */
export class SecretForm {
  private pattern: RegExp | undefined = undefined;

  /** `source` is that of a regular expression; whatever it finds holds `anchor`, which is quicker to look for. */
  constructor(
    readonly source: string,
    private readonly anchor: string,
  ) {}

  replaceIn(text: string, replacement: string): string {
    if (!text.includes(this.anchor)) return text;
    this.pattern ??= new RegExp(this.source, 'g');
    return text.replace(this.pattern, replacement);
  }
}

/**
 * What finds a secret as it is, in JSON (also in JSON within JSON), in a URL, in HTML and in Base64, however much of it
 * each of them escapes.
 */
export function secretForms(value: SettingValue | undefined): readonly SecretForm[] {
  const text = value === undefined || typeof value === 'boolean' ? '' : String(value).trim();
  if (text.length < MIN_LENGTH) return [];
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const texts = [text, ...(lines.length > 1 ? lines.filter((line) => line.length >= MIN_LINE) : [])];
  return [
    ...texts.flatMap((one) => pieces(one.match(/\\+|[\s\S]/gu) ?? []).map(escapedForm)),
    ...base64Cores(text).flatMap((core) => pieces([...core]).map(base64Form)),
  ];
}

/** Pieces of much the same length: a short one would be found everywhere. */
function pieces(tokens: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(tokens.length / MAX_PIECE);
  const cut = (index: number) => Math.floor((index * tokens.length) / count);
  return Array.from({ length: count }, (_, index) => tokens.slice(cut(index), cut(index + 1)));
}

const LETTERS: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' };
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#0?39;|&apos;',
};

function escapedForm(tokens: readonly string[]): SecretForm {
  const source = tokens.map((token) => (/^[A-Za-z0-9]$/.test(token) ? token : `(?:${writtenAs(token).join('|')})`));
  return new SecretForm(source.join(''), anchorOf(tokens));
}

/** The longest run of characters that nobody escapes. */
function anchorOf(tokens: readonly string[]): string {
  const runs = tokens.join('').match(/[A-Za-z0-9]+/g) ?? [];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

/** How a character, or a run of backslashes, may be written. Every repetition has a bound, so that no text takes long. */
function writtenAs(token: string): readonly string[] {
  if (token.startsWith('\\')) {
    const { length } = token;
    return [`\\\\{${length},${length * 8}}`, `(?:\\\\{1,7}u005[cC]){${length}}`, `(?:%5[cC]){${length}}`];
  }
  const letter = LETTERS[token];
  return [
    // Before the character itself: an escape may begin with it.
    ...(ENTITIES[token] === undefined ? [] : [ENTITIES[token]]),
    [...new TextEncoder().encode(token)].map((byte) => `%${hex(byte, 2)}`).join(''),
    Array.from({ length: token.length }, (_, at) => `\\\\{1,7}u${hex(token.charCodeAt(at), 4)}`).join(''),
    ...(letter === undefined ? [] : [`\\\\{1,7}${letter}`]),
    ...(token === ' ' ? ['\\+'] : []),
    token === '"' || token === '/' ? `\\\\{0,7}${token}` : literal(token),
  ];
}

function hex(code: number, digits: number): string {
  return code
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** At each of the three places that it may have among other bytes, without the characters that it shares with those. */
function base64Cores(text: string): readonly string[] {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
  const cores = [0, 1, 2].map((shift) => {
    const shared = shift === 0 ? 0 : shift + 1;
    return btoa('\0'.repeat(shift) + bytes).slice(shared, Math.floor(((shift + bytes.length) * 8) / 6));
  });
  return cores.filter((core, shift) => shift === 0 || core.length >= 6);
}

function base64Form(piece: readonly string[]): SecretForm {
  return new SecretForm(`${piece.map(base64Source).join('')}(?:[A-Za-z0-9+/_-]?={1,2})?`, anchorOf(piece));
}

/** In URLs two characters are others. */
function base64Source(char: string): string {
  if (char === '+') return '(?:[-+]|%2[bB])';
  return char === '/' ? '(?:_|\\\\{0,7}/|%2[fF])' : char;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
