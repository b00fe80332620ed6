import { claude, claudeRules, parseClaude, readWithoutNotice } from './claude.js';
import type { Dialect } from './dialect.js';

/**
 * Hooks of Codex, as documented in November 2026. The file format is that of Claude Code; the rules for matchers and
 * results differ.
 */
export const codex: Dialect = {
  ...claude,
  id: 'codex',
  places: { user: ['.codex/hooks.json'], workspace: ['.codex/hooks.json'] },
  folders: {
    project: ['CLAUDE_PROJECT_DIR', 'CODEX_PROJECT_DIR'],
    extension: ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT'],
  },
  toolFields: { Bash: ['command'], apply_patch: ['command'] },
  // In Codex, a name that contains `-`, a space or `,` is a regular expression.
  matcher: (given) => (/^[\w|]+$/.test(given) ? given : `(?:${given})`),
  // The fields of a result in Codex are not documented.
  input: undefined,
  parse: (document, source) => parseClaude(document, source, 'PLUGIN_DATA'),
  read: (run) => readWithoutNotice(run, RULES),
};

/** The reason replaces a refused result. */
const RULES = claudeRules((reason) => ({ result: { content: reason } }));
