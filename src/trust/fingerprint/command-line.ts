import { ItemUnboundError } from '../error.js';
import type { TrustItem } from '../item.js';

/** A command line as far as it can be read without running it. */
interface CommandLine {
  /** Every word that may name a file. */
  readonly words: ReadonlySet<string>;
  /** False if a shell does more with the line than start one program with these words. */
  readonly isPlain: boolean;
}

/** Variables whose values are known before the line runs, by name. */
export type KnownVariables = Readonly<Record<string, string>>;

/** No argument is longer on Linux. */
const LONG_LINE = 131_072;
const VARIABLE = /\$(?:\{(\w+)(?::?-[^{}]*)?\}|(\w+))/g;
/** In an MCP entry the host puts a value here, not a shell. */
const VALUE = /\$\{(?:env:)?(\w+)(?::-([^{}]*))?\}/g;
/** Stands for a known variable while the line is split, so that a folder of any name stays one piece of a word. */
const MARK = /\0(\w+)\0/g;

/**
 * Reads the words of an item's command line. Known variables are replaced first. An argument behind `-c`, or with a blank
 * in it, is read as a command line itself. A file that output is redirected to is written, not run: it does not count.
 */
export function readCommandLine(item: TrustItem, variables: KnownVariables): CommandLine {
  const { command = '', args = [], shell, kind } = item;
  if ([command, ...args].reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
    throw new ItemUnboundError('too-large', `Its command line must have at most ${LONG_LINE} characters.`);
  }
  const marked = [command, ...args].map((text) =>
    mark(kind === 'mcp-server' ? markValues(text, variables) : text, variables),
  );
  const [program = '', ...others] = marked;
  const line = new LineReader();
  if (shell) line.read(program.replace(/\n$/, ''));
  else line.words.add(program);
  line.add(others);
  const words = [...line.words].map((word) => word.replace(MARK, (_mark, name: string) => variables[name] ?? ''));
  return { words: new Set(words), isPlain: line.isPlain };
}

function mark(text: string, variables: KnownVariables): string {
  return text.replace(VARIABLE, (whole: string, braced: string | undefined, bare = '') => {
    const name = braced ?? bare;
    return Object.hasOwn(variables, name) ? `\0${name}\0` : whole;
  });
}

/** The value of an unknown variable is its default, or nothing. */
function markValues(text: string, variables: KnownVariables): string {
  return text.replace(VALUE, (_whole, name: string, otherwise = '') =>
    Object.hasOwn(variables, name) ? `\0${name}\0` : otherwise,
  );
}

/** Collects the words of a line, and of the lines that are arguments in it. */
class LineReader implements CommandLine {
  readonly words = new Set<string>();
  isPlain = true;
  private readonly lines = new Set<string>();

  read(line: string): void {
    if (this.lines.has(line)) return;
    this.lines.add(line);
    const { words, isPlain } = splitLine(line);
    this.isPlain &&= isPlain;
    this.add(words);
  }

  add(words: readonly string[]): void {
    for (const [at, word] of words.entries()) {
      this.words.add(word).add(word.replace(/^-[^=]*=/, ''));
      if (/\s/.test(word) || /^-\w*c$/.test(words[at - 1] ?? '')) this.read(word);
    }
  }
}

const BREAK = /<>|&?>[>|&]?|[ \t\n;&|<>()]/y;
/** Outside of quotes each of these starts another command, opens a file, or is replaced by something else. */
const ACTIVE = /[\n;&|<>()`$*?[{~#!]/;
const ACTIVE_IN_QUOTES = /[$`]/;

function splitLine(line: string): { readonly words: readonly string[]; readonly isPlain: boolean } {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  let isPlain = true;
  let isWritten = false;
  const end = (then: string) => {
    if (word !== undefined && !isWritten) words.push(word);
    // Blanks may stand between the operator and its file.
    if (word !== undefined || !/\s/.test(then)) isWritten = /^&?>/.test(then);
    word = undefined;
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    BREAK.lastIndex = at;
    const [broken] = quote === '' ? (BREAK.exec(line) ?? []) : [];
    if (quote !== "'") isPlain &&= !(quote === '' ? ACTIVE : ACTIVE_IN_QUOTES).test(character);
    if (broken !== undefined) {
      end(broken);
      at += broken.length - 1;
    } else if (character === '\\' && quote !== "'") {
      at += 1;
      const escaped = line.charAt(at);
      const isKept = quote === '"' && !/[$`"\\\n]/.test(escaped);
      if (escaped !== '\n') word = (word ?? '') + (isKept ? character : '') + escaped;
    } else if (character === quote) quote = '';
    else if (quote === '' && /['"]/.test(character)) {
      quote = character;
      word ??= '';
    } else word = (word ?? '') + character;
  }
  end('');
  return { words, isPlain: isPlain && !/^\w+\+?=/.test(words[0] ?? '') };
}
