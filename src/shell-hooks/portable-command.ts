import type { HookDialect } from './hook-dialect.js';

/** What a shell takes as one: what is in quotes, an escape; and what Gemini CLI puts a folder in the place of, in quotes. */
const PIECES = /'[^']*'|"[^"\\]*(?:\\.[^"\\]*)*"|\\.|\$(?:GEMINI|CLAUDE)_PROJECT_DIR\b/gs;
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
  const isGemini = dialect === 'gemini';
  const text = isGemini ? command.replaceAll(`\${/}`, '/') : command;
  return text.replace(PIECES, (piece, at: number) => {
    if (piece.startsWith('$')) return isGemini ? `"${piece}"` : piece;
    const isFolder = LITERAL.test(piece) && !SCRIPT.test(text.slice(Math.max(0, at - BEFORE), at));
    return isFolder ? piece.replace(LITERAL, `"$1"'`) : piece;
  });
}
