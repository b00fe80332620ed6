import { replaceVariables } from '../../internal/placeholder.js';
import { ItemUnboundError } from '../error.js';
import type { TrustItem } from '../item.js';

/** The words of a command line, found without running it. */
interface CommandLine {
  /** Every word that may name a file. */
  readonly words: ReadonlySet<string>;
  /** False if the line uses shell syntax beyond starting one program with fixed words. */
  readonly isPlain: boolean;
}

/** Variables whose values are known in advance, by name. */
export type KnownVariables = Readonly<Record<string, string>>;

/** The longest argument that Linux accepts. */
const LONG_LINE = 131_072;
const VARIABLE = /\$(?:\{(\w+)(?::?-([^{}]*))?\}|(\w+))/g;
/** Marks a known variable while the line is split, so that a value with spaces stays in one word. */
const MARK = /\0(\w+)\0/g;

/**
 * Splits the command line of an item into words, with known variables replaced. An argument after `-c`, or with white
 * space in it, is also split as a command line.
 *
 * Leaves out files that output is redirected to, because they are written and not run.
 */
export function readCommandLine(item: TrustItem, variables: KnownVariables): CommandLine {
  const given = [item.command ?? '', ...(item.args ?? [])];
  if (given.reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
    throw new ItemUnboundError('too-large', `The command line must have at most ${LONG_LINE} characters.`);
  }
  const isServer = item.kind === 'mcp-server';
  const [program = '', ...args] = given.map((text) => markVariables(text, variables, isServer));
  const words = new Set(item.shell ? [] : [program]);
  const lines = new Set(item.shell ? [program.replace(/\n$/, '')] : []);
  const add = (found: readonly string[]) => {
    for (const [at, word] of found.entries()) {
      words.add(word).add(word.replace(/^-[^=]*=/, ''));
      if (/\s/.test(word) || /^-\w*c$/.test(found[at - 1] ?? '')) lines.add(word);
    }
  };
  add(args);
  // The loop also visits lines that are added while it runs.
  for (const line of lines) add(wordsOf(line));
  return {
    words: new Set([...words].map((word) => word.replace(MARK, (_mark, name: string) => variables[name] ?? ''))),
    isPlain: [...lines].every(isPlainLine),
  };
}

/**
 * Marks known variables. In an MCP server entry an unknown variable becomes its default or nothing; elsewhere it is
 * kept.
 */
function markVariables(text: string, variables: KnownVariables, isServer: boolean): string {
  const mark = (name: string, otherwise: string) => (Object.hasOwn(variables, name) ? `\0${name}\0` : otherwise);
  if (isServer) return replaceVariables(text, (_whole, name, fallback = '') => mark(name, fallback));
  return text.replace(VARIABLE, (whole: string, ...[braced, , bare = '']: (string | undefined)[]) =>
    mark(braced ?? bare, whole),
  );
}

/**
 * Matches a backslash with the next character, or a string in single or double quotes. The closing quote may be
 * missing.
 */
const QUOTED = /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs;
/** Matches a word, with a preceding operator that redirects output to it. `<>` also reads, so its file counts. */
const WORD = new RegExp(`((?<!<)&?>[>|&]?[ \\t]*)?((?:${QUOTED.source}|[^ \\t\\n;&|<>()\\\\'"])+)`, 'gs');

function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(WORD)].filter(([, written]) => written === undefined);
  return words.map(([word]) => word.replace(QUOTED, unquoted));
}

function unquoted(_quoted: string, ...[escaped, single, double = '']: (string | undefined)[]): string {
  if (escaped !== undefined) return withoutLineEnd(escaped);
  return single ?? double.replace(/\\([$`"\\\n])/g, (_escape, character: string) => withoutLineEnd(character));
}

/** A backslash before a line break joins two lines. */
function withoutLineEnd(character: string): string {
  return character === '\n' ? '' : character;
}

/** Characters that are shell syntax outside of quotes: they start a command, open a file or are expanded. */
const ACTIVE = /[\n;&|<>()`$*?[{~#!]/;

function isPlainLine(line: string): boolean {
  const bare = line.replace(QUOTED, (quoted: string) =>
    quoted.startsWith('"') ? quoted.replace(/\\.|[^$`]/gs, '') : '',
  );
  return !ACTIVE.test(bare) && !/^\w+\+?=/.test(wordsOf(line)[0] ?? '');
}
