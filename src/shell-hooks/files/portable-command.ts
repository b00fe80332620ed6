import type { HookDialect } from '../hook/event.js';

/** What Gemini CLI puts a folder in the place of, in quotes. */
const FOLDER = /^\$(?:GEMINI|CLAUDE)_PROJECT_DIR$/;
/** What matters outside of double quotes, also in a command within them: a comment, an escape, what is in single quotes. */
const PLAIN = /(?<!\S)#[^\n]*|\\.|'[^']*'|["`()]|\$(?:GEMINI|CLAUDE)_PROJECT_DIR\b/gs;
/** What matters within double quotes. */
const QUOTED = /\\.|["`]|\$\(/gs;
const ENDS: Readonly<Record<string, string>> = { '"': '"', '`': '`', '(': ')', '$(': ')' };
/** A path in single quotes that begins with a folder. */
const LITERAL =
  /^'(\$\{(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_(?:ROOT|DATA)|PLUGIN_ROOT|extensionPath|workspacePath)\}|\$(?:GEMINI|CLAUDE)_PROJECT_DIR)(?=[/'])/;
/** What stands before a text for another shell: that one knows the variable, and would read a path as more than one. */
const SCRIPT = /(?:^|\s)(?:-\w*c|eval)\s+$/;
/** How far back that is looked for. */
const BEFORE = 40;

/**
 * Other programs put folders into the text for a shell before it reads it. Here it looks them up by itself, so nothing in
 * their names is read as a command; where it would not, in single quotes, or take more than one word of it, it is made to.
 */
export function portable(command: unknown, dialect: HookDialect): unknown {
  if (typeof command !== 'string') return command;
  const text = dialect === 'gemini' ? command.replaceAll(`\${/}`, '/') : command;
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
    const isGiven = piece.startsWith("'") && !SCRIPT.test(text.slice(Math.max(0, start - BEFORE), start));
    const looked = isGiven ? piece.replace(LITERAL, `"$1"'`) : piece;
    done += text.slice(at, start) + (dialect === 'gemini' ? looked.replace(FOLDER, '"$&"') : looked);
    at = matter.lastIndex;
  }
}
