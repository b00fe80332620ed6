import { starTest } from '../../internal/star-pattern.js';
import { type ShellWord, shellCommands } from './shell-words.js';

/** Words of the shell before a command. */
const RESERVED = ['if', 'then', 'elif', 'else', 'while', 'until', 'do', '!', '{', 'time', 'coproc'];
/** Programs that run the command that follows them. */
const WRAPPERS = [
  'sudo',
  'doas',
  'command',
  'builtin',
  'exec',
  'env',
  'nohup',
  'nice',
  'ionice',
  'stdbuf',
  'setsid',
  'timeout',
  'busybox',
  'caffeinate',
  'unbuffer',
];
/** Programs that run a command which cannot be read from their arguments. */
const RUNNERS = ['eval', 'xargs', 'parallel', 'watch', 'trap', 'su', 'runuser', 'script', 'strace', 'flock', 'chroot'];
const SHELL = /^(?:ba|z|da|k|a|fi)?sh$/;
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;
/** The largest length of a line that is parsed. A longer line matches. To parse 8,192 characters takes up to 25 ms. */
const LONGEST_LINE = 8_192;
const DURATION = /^[\d.]+[smhd]?$/;

/**
 * Returns a test for command lines. A line matches if one of its commands matches, with or without its redirections. A
 * line also matches if its commands cannot be read within 50 ms, or at all.
 */
export function commandTest(specifier: string): (line: string | undefined) => boolean {
  const isWhole = patternTest(specifier);
  // The words of a command line are compared without quotes.
  const plain = specifier.replaceAll(/["'\\]/g, '');
  const isCommand = patternTest(plain);
  const fits = beginningTest(plain);
  return (line) => {
    if (line === undefined || line.length > LONGEST_LINE) return true;
    const commands = shellCommands(line);
    if (commands === undefined || isWhole(line.trim())) return true;
    return commands.some((words) => {
      const bare = words.filter(({ isRedirection }) => !isRedirection);
      const command = unwrapped(bare);
      if (command === undefined) return true;
      const whole = bare.length < words.length ? unwrapped(words) : undefined;
      const forms = [command, whole ?? []].filter(({ length }) => length > 0);
      return forms.flatMap(namings).some((form) => isCommand(textOf(form)) || fits(form));
    });
  };
}

/** `git *` and `git:*` match `git` and `git push`, but not `github`. */
function patternTest(specifier: string): (text: string) => boolean {
  const pattern = withBlanks(specifier);
  const start = /(?: |:)\*$/.test(pattern) ? pattern.slice(0, -2) : undefined;
  const tests = (start === undefined ? [pattern] : [start, `${start} *`]).map(starTest);
  return (text) => tests.some((test) => test(withBlanks(text)));
}

/** Replaces each character of white space by a blank. */
function withBlanks(text: string): string {
  return text.replaceAll(/\s/g, ' ');
}

/**
 * Removes assignments and wrappers such as `sudo`. Returns undefined if the command that runs cannot be told, such as
 * after an option of a wrapper.
 */
function unwrapped(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  let at = 0;
  for (;;) {
    const [first, second] = [words[at], words[at + 1]];
    const name = nameOf(first);
    const isWrapper = WRAPPERS.includes(name);
    const isPrefix = isWrapper || RESERVED.includes(name) || ASSIGNMENT.test(first?.text ?? '');
    if (!isPrefix) return runsOthers(name, words.slice(at + 1)) ? undefined : words.slice(at);
    if ((isWrapper || name === 'time') && second?.text.startsWith('-')) return undefined;
    at += name === 'timeout' && DURATION.test(second?.text ?? '') ? 2 : 1;
  }
}

/** Returns the name of the program, without its directory. */
function nameOf(word: ShellWord | undefined): string {
  return word?.text.replace(/^.*\//s, '') ?? '';
}

function runsOthers(name: string, args: readonly ShellWord[]): boolean {
  const texts = args.filter(({ isRedirection }) => !isRedirection).map(({ text }) => text);
  if (RUNNERS.includes(name) || texts.some((text) => /^-(?:exec|ok)(?:dir)?$/.test(text))) return true;
  // A shell without a script reads commands from its input.
  return (
    SHELL.test(name) && (texts.some((text) => /^-\w*[cs]/.test(text)) || texts.every((text) => /^[-+]/.test(text)))
  );
}

/** Returns the command as it is written, and with the name of the program instead of its path. */
function namings(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const [first, ...rest] = words;
  if (first === undefined || !first.text.includes('/') || first.unknownFrom !== undefined) return [words];
  return [words, [{ ...first, text: nameOf(first) }, ...rest]];
}

function textOf(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(' ');
}

/** Returns a test for commands with a word that a shell replaces, by the text before that word. */
function beginningTest(plain: string): (words: readonly ShellWord[]) => boolean {
  const pattern = plain.replace(/:\*$/, ' *');
  const star = pattern.indexOf('*');
  const start = star < 0 ? pattern : pattern.slice(0, star);
  return (words) => {
    const at = words.findIndex(({ unknownFrom }) => unknownFrom !== undefined);
    const unknown = words[at];
    if (unknown === undefined) return false;
    const known = textOf([...words.slice(0, at), { ...unknown, text: unknown.text.slice(0, unknown.unknownFrom) }]);
    if (star < 0) return start.startsWith(known.trimEnd());
    return start.startsWith(known) || known.startsWith(start);
  };
}
