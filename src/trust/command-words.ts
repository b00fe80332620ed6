/** Where a word ends that is part of another one, such as in `--config=./a.json`. */
const SEPARATORS = /[\s'"`;&|<>()=,:{}$?#]+/;
/** What a shell puts something in the place of. Each ends where another one could begin, so none is looked through twice. */
const EXPANSION = /\$(?:\w+|\{[^{}]*\}|\([^()]*\))|`[^`]*`/g;
/** What stands in the place of a variable that is not set. */
const DEFAULT = /\$\{(?:env:)?\w{1,200}:?[-=+?]([^}]*)\}/g;
/** What `python -m` is given. */
const MODULE = /^\w+(?:\.\w+)+$/;
/** How deep texts for a shell are looked for in each other. */
const DEPTH = 4;

/**
 * Every text that may name a file in a word of a command line, read as a path, an option, a URL or a text for a shell.
 * What follows a variable or a substitution is given without its first `/`, too: it may stand for the folder itself.
 */
export function namesIn(word: string, depth = DEPTH): string[] {
  // Twice, for a substitution within another one.
  const bare = word.replaceAll(EXPANSION, '').replaceAll(EXPANSION, '');
  // What is behind the last brace holds no whole one, and would be looked through for each that begins.
  const whole = word.slice(0, word.lastIndexOf('}') + 1);
  const unset = whole.replaceAll(DEFAULT, '$1') + word.slice(whole.length);
  const texts = [...new Set([word, bare, unset])];
  const rests = texts.flatMap((text) => [/^(-\w|@)/, /^[^=]*=/, /^[^:]*:/].map((start) => text.replace(start, '')));
  const defaults = [...whole.matchAll(DEFAULT)].map(([, text = '']) => text);
  const pieces = [...texts, ...rests, ...defaults, ...texts.flatMap((text) => text.split(SEPARATORS))];
  const inner = depth > 0 ? [...new Set(texts.flatMap(shellWords))].filter((text) => text !== word) : [];
  const modules = pieces.filter((piece) => MODULE.test(piece)).map((piece) => piece.replaceAll('.', '/'));
  const names = [...pieces, ...modules, ...pieces.flatMap(decoded)];
  for (const text of inner) names.push(...namesIn(text, depth - 1));
  const after = /[$`]/.test(word) ? names.map((name) => name.replace(/^\/+/, '')) : [];
  return [...new Set([...names, ...after])].filter((name) => name !== '');
}

/** The words that a shell would see, with its quotes and backslashes gone. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\' && quote !== "'") {
      at += 1;
      if (text.charAt(at) !== '\n') word += text.charAt(at);
    } else if (character === quote) quote = '';
    else if (quote === '' && /['"]/.test(character)) quote = character;
    else if (quote === '' && /[\s;&|<>()`]/.test(character)) {
      words.push(word);
      word = '';
    } else word += character;
  }
  return [...words, word];
}

function decoded(name: string): string[] {
  if (!name.includes('%')) return [];
  try {
    return [decodeURIComponent(name)];
  } catch {
    return [];
  }
}
