import { EXTENSION_PATH } from '../../trust/item.js';

/** A program and its arguments. */
export interface SplitCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Matches a word without any character that a shell could interpret. */
const PLAIN = /^[\p{L}\p{M}\p{N}_@%+=:,./-]+$/u;

/**
 * Splits a command line of plain words at its blanks. Returns undefined if a word contains a quote, a variable, a glob
 * or any other shell syntax. `${extensionPath}` is allowed, because Keelson replaces it without a shell.
 */
export function splitCommandLine(text: string): SplitCommand | undefined {
  const [command = '', ...args] = text.trim().split(/[ \t]+/);
  const isPlain = [command, ...args].every((word) => PLAIN.test(word.replaceAll(EXTENSION_PATH, 'path')));
  // A first word such as `DEBUG=1` sets a variable in a shell.
  return isPlain && !command.includes('=') ? { command, args } : undefined;
}
