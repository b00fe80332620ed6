import type { HookDialect } from '../hook/event.js';

/** The variables that Gemini CLI replaces by a folder in quotes. */
const FOLDER = /^\$(?:GEMINI|CLAUDE)_PROJECT_DIR$/;
/** Outside of double quotes, also in a command within them: comments, escapes, single quotes, and the ends of the rest. */
const PLAIN = /(?<!\S)#[^\n]*|\\.|'[^']*'|["`()]|\$(?:GEMINI|CLAUDE)_PROJECT_DIR\b/gs;
/** Within double quotes: escapes, their end, and commands. */
const QUOTED = /\\.|["`]|\$\(/gs;
const ENDS: Readonly<Record<string, string>> = { '"': '"', '`': '`', '(': ')', '$(': ')' };

/**
 * Gemini CLI puts a folder in quotes into a line before a shell reads it. Here the shell looks the folder up itself, so
 * nothing in its name is read as a command, and it is put in quotes, so a name with a blank is one word.
 */
export function portable(command: unknown, dialect: HookDialect): unknown {
  if (typeof command !== 'string' || dialect !== 'gemini') return command;
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
