/** Where a word ends that is part of another one, such as in `--config=./a.json`. */
const SEPARATORS = /[\s'"`;&|<>()[\]=,:{}$?#!@]+/;
/** The same, for who takes a blank for a part of a name. */
const LIST_SEPARATORS = /[=:,;|]/;
/** What stands before a name in one word: options of one letter in a row, the host of a URL. */
const STARTS = [/^-\w/, /^-\w\w/, /^-\w{3}/, /^@/, /^[^=]*=/, /^[^:]*:/, /^(?:\w+:)?\/\/[^/]+/];
/** What a shell puts something in the place of. Each ends where another one could begin, so none is looked through twice. */
const EXPANSION = /\$(?:[A-Za-z_]\w*|[\d@*#?!$-]|\{[^{}]*\}|\([^()]*\))|`[^`]*`/g;
/** What stands in the place of a variable that is not set. */
const DEFAULT = /\$\{(?:env:)?\w{1,200}:?[-=+?]([^}]*)\}/g;
/** What `python -m` and `perl -M` are given. */
const MODULE = /^\w+(?:(?:\.|::)\w+)+$/;
/** How deep texts for a shell are looked for in each other. */
const DEPTH = 4;

/**
 * Every text that may name a file in a word of a command line, read as a path, an option, a URL or a text for a shell.
 * What follows a variable or a substitution is given without its first `/`, too: it may stand for the folder itself.
 */
export function namesIn(word: string): string[] {
  const seen = new Set([word]);
  const names = new Set<string>();
  let texts = [word];
  for (let depth = 0; depth <= DEPTH && texts.length > 0; depth += 1) {
    const inner = texts.flatMap((text) => textsIn(text, names));
    texts = [...new Set(inner)].filter((text) => !seen.has(text));
    for (const text of texts) seen.add(text);
  }
  if (/[$`]/.test(word)) for (const name of [...names]) names.add(name.replace(/^\/+/, ''));
  names.delete('');
  return [...names];
}

/** Adds the names in a text. Gives the words that a shell would see in it, which may be texts for a shell themselves. */
function textsIn(word: string, names: Set<string>): string[] {
  // Twice, for a substitution within another one.
  const bare = word.replaceAll(EXPANSION, '').replaceAll(EXPANSION, '');
  // What is behind the last brace holds no whole one, and would be looked through for each that begins.
  const whole = word.slice(0, word.lastIndexOf('}') + 1);
  const unset = whole.replaceAll(DEFAULT, '$1') + word.slice(whole.length);
  const given = [...new Set([word, bare, unset])];
  const texts = [...new Set([...given, ...given.map(decoded)])];
  const defaults = [...whole.matchAll(DEFAULT)].map(([, text = '']) => text);
  for (const text of new Set(texts.flatMap(piecesOf).concat(defaults))) {
    names.add(text).add(decoded(text));
    if (MODULE.test(text)) names.add(text.replaceAll(/\.|::/g, '/'));
  }
  return given.flatMap(shellWords);
}

function piecesOf(text: string): string[] {
  const rests = STARTS.map((start) => text.replace(start, ''));
  return [text, ...rests, ...text.split(LIST_SEPARATORS), ...text.split(SEPARATORS)];
}

/** The words that a shell would see, with its quotes and backslashes gone; and those that `env -S` or Node would. */
function shellWords(text: string): string[] {
  const words = wordsIn(text, /[$`"\\]/);
  // The `\_` is the blank of `env -S`.
  return text.includes('\\') ? [...words, ...wordsIn(text.replaceAll('\\_', ' '), /./s)] : words;
}

function wordsIn(text: string, escapable: RegExp): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\' && quote !== "'") {
      at += 1;
      const escaped = text.charAt(at);
      if (quote === '"' && escaped !== '\n' && !escapable.test(escaped)) word += character;
      if (escaped !== '\n') word += escaped;
    } else if (character === quote) quote = '';
    else if (quote === '' && /['"]/.test(character)) quote = character;
    // No other blank ends a word there.
    else if (quote === '' && /[ \t\n;&|<>()`]/.test(character)) {
      words.push(word);
      word = '';
    } else word += character;
  }
  return [...words, word];
}

/** What is no escape stays as it is. */
function decoded(name: string): string {
  return name.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
