/** Variables that Gemini CLI replaces with a quoted directory path. */
const FOLDER = /^\$(?:GEMINI|CLAUDE)_PROJECT_DIR$/;
/**
 * Tokens outside of double quotes: comments, escapes, single-quoted strings, brackets, quotes and project variables.
 */
const PLAIN = /(?<!\S)#[^\n]*|\\.|'[^']*'|["`()]|\$(?:GEMINI|CLAUDE)_PROJECT_DIR\b/gs;
/** Tokens inside double quotes: escapes, the closing quote, and the start of a command substitution. */
const QUOTED = /\\.|["`]|\$\(/gs;
const ENDS: Readonly<Record<string, string>> = { '"': '"', '`': '`', '(': ')', '$(': ')' };

/**
 * Quotes the project variables of a Gemini CLI command. Gemini CLI inserts the quoted path before a shell reads the
 * command; here the shell expands the variable. So no part of the path runs as a command, and a path with spaces stays
 * one argument.
 */
export function portable(command: unknown): unknown {
  if (typeof command !== 'string') return command;
  const text = command.replaceAll(`\${/}`, '/');
  const ends: (string | undefined)[] = [];
  let done = '';
  let at = 0;
  for (;;) {
    const matter = ends.at(-1) === '"' ? QUOTED : PLAIN;
    matter.lastIndex = at;
    const [piece] = matter.exec(text) ?? [];
    if (piece === undefined) return done + text.slice(at);
    const start = matter.lastIndex - piece.length;
    if (piece === ends.at(-1)) ends.pop();
    else if (piece in ENDS) ends.push(ENDS[piece]);
    done += text.slice(at, start) + piece.replace(FOLDER, '"$&"');
    at = matter.lastIndex;
  }
}
