import { claude, claudeRules, parseClaude } from './claude.js';
import type { Dialect } from './dialect.js';
import { readOutput } from './output.js';

/** Hooks of Codex, by its documentation as of November 2026: files of Claude Code's form, with its own rules for matchers and results. */
export const codex: Dialect = {
  ...claude,
  id: 'codex',
  places: { user: ['.codex/hooks.json'], workspace: ['.codex/hooks.json'] },
  folders: {
    project: ['CLAUDE_PROJECT_DIR', 'CODEX_PROJECT_DIR'],
    extension: ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT'],
  },
  // A name with a `-`, a space or a `,` is a pattern there.
  matcher: (given) => (/^[\w|]+$/.test(given) ? given : `(?:${given})`),
  parse: (document, source) => parseClaude(document, source, 'PLUGIN_DATA'),
  read: (run) => readOutput(run, RULES),
};

/** Nobody sees a result that a hook refuses. */
const RULES = claudeRules((reason) => ({ result: { content: reason } }));
