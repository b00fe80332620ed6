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
const VARIABLE = /\$(?:\{(\w+)(?::?-([^{}]*))?\}|(\w+))/g;
/** In an MCP entry the host puts a value here, not a shell. */
const VALUE = /\$\{(?:env:)?(\w+)(?::-([^{}]*))?\}/g;
/** Stands for a known variable while the line is split, so that a folder of any name stays one piece of a word. */
const MARK = /\0(\w+)\0/g;

/**
 * Reads the words of an item's command line. Known variables are replaced first. An argument behind `-c`, or with a blank
 * in it, is read as a command line itself. A file that output is redirected to is written, not run: it does not count.
 */
export function readCommandLine(item: TrustItem, variables: KnownVariables): CommandLine {
  const given = [item.command ?? '', ...(item.args ?? [])];
  if (given.reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
    throw new ItemUnboundError('too-large', `Its command line must have at most ${LONG_LINE} characters.`);
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
  // Also visits the lines that are added meanwhile.
  for (const line of lines) add(wordsOf(line));
  return {
    words: new Set([...words].map((word) => word.replace(MARK, (_mark, name: string) => variables[name] ?? ''))),
    isPlain: [...lines].every(isPlainLine),
  };
}

/** In an MCP entry the value of an unknown variable is its default, or nothing. Elsewhere it stays as it is. */
function markVariables(text: string, variables: KnownVariables, isServer: boolean): string {
  return text.replace(isServer ? VALUE : VARIABLE, (whole: string, ...groups: (string | undefined)[]) => {
    const [braced, otherwise = '', bare = ''] = groups;
    const name = braced ?? bare;
    if (Object.hasOwn(variables, name)) return `\0${name}\0`;
    return isServer ? otherwise : whole;
  });
}

/** A backslash and what it protects, a string in single quotes, or one in double quotes; the last quote may be missing. */
const QUOTED = /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs;
/** A word, behind the operator that redirects output to it. `<>` also reads. */
const WORD = new RegExp(`((?<!<)&?>[>|&]?[ \\t]*)?((?:${QUOTED.source}|[^ \\t\\n;&|<>()\\\\'"])+)`, 'gs');

function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(WORD)].filter(([, written]) => written === undefined);
  return words.map(([word]) => word.replace(QUOTED, unquoted));
}

function unquoted(_quoted: string, ...[escaped, single, double = '']: (string | undefined)[]): string {
  if (escaped !== undefined) return withoutLineEnd(escaped);
  return single ?? double.replace(/\\([$`"\\\n])/g, (_escape, character: string) => withoutLineEnd(character));
}

/** A backslash at the end of a line joins it to the next one. */
function withoutLineEnd(character: string): string {
  return character === '\n' ? '' : character;
}

/** Outside of quotes each of these starts another command, opens a file, or is replaced by something else. */
const ACTIVE = /[\n;&|<>()`$*?[{~#!]/;

function isPlainLine(line: string): boolean {
  const bare = line.replace(QUOTED, (quoted: string) =>
    quoted.startsWith('"') ? quoted.replace(/\\.|[^$`]/gs, '') : '',
  );
  return !ACTIVE.test(bare) && !/^\w+\+?=/.test(wordsOf(line)[0] ?? '');
}
