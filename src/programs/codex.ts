import { from } from './cell.js';
import { CLAUDE_FIELDS } from './claude.js';
import type { Program } from './program.js';

const hooks = from('https://developers.openai.com/codex/hooks');
const aliases = from('https://github.com/openai/codex/pull/18391');

/** Codex. Its servers are in a TOML file, which Keelson does not read. */
export const codex: Program = {
  id: 'codex',
  name: 'Codex',
  version: '0.1x',
  read: '2026-11',
  hooks: {
    files: hooks({ user: ['.codex/hooks.json'], workspace: ['.codex/hooks.json'] }),
    form: hooks({ grouped: true }),
    entry: hooks({
      types: ['command'],
      command: ['command'],
      argsWithoutShell: true,
      timeout: ['timeout'],
      onFailure: true,
      condition: 'if',
      background: ['async', 'asyncRewake'],
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(true),
    events: hooks({
      SessionStart: { event: 'session_start', matched: true },
      UserPromptSubmit: { event: 'before_agent' },
      PreToolUse: { event: 'before_tool', matched: true, aliases: true },
      PostToolUse: { event: 'after_tool', after: 'success', matched: true, aliases: true },
      PostToolUseFailure: { event: 'after_tool', after: 'failure', matched: true, aliases: true },
      Stop: { event: 'after_agent' },
      SessionEnd: { event: 'session_end', matched: true },
      Notification: { event: 'notification', matched: true },
      SubagentStart: { event: 'before_subagent', matched: true },
      SubagentStop: { event: 'after_subagent', matched: true },
      PreCompact: { event: 'before_compaction', matched: true },
      PostCompact: { event: 'after_compaction', matched: true, told: true },
      PermissionRequest: { event: 'permission_request', matched: true, aliases: true },
      Interrupt: { absent: 'an abort ends the run without hooks' },
    }),
    // A name that contains `-`, a blank or `,` is a pattern.
    matcher: hooks('words-or-pattern'),
    matchesSources: hooks(true),
    tools: aliases({
      Bash: { args: ['command'] },
      apply_patch: { args: ['command'], aliases: ['Write', 'Edit'] },
    }),
    mcpTool: hooks('mcp__<server>__<tool>'),
    pluginTool: 'unknown',
    answer: hooks({
      fields: CLAUDE_FIELDS,
      // The reason replaces a refused result.
      refusal: {
        before_tool: 'cancel',
        before_agent: 'cancel',
        before_compaction: 'cancel',
        permission_request: 'cancel',
        after_tool: 'result',
        after_subagent: 'context',
        after_agent: 'again',
        '*': 'user',
      },
      text: { session_start: 'context', before_agent: 'context' },
      detaches: true,
    }),
    unknownAnswerRefuses: 'unknown',
    refusingFailures: hooks([]),
    startsIn: hooks('workspace'),
    variables: hooks({
      workspace: ['CLAUDE_PROJECT_DIR', 'CODEX_PROJECT_DIR'],
      package: ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT'],
      data: 'PLUGIN_DATA',
      missing: { CLAUDE_ENV_FILE: 'variables that the hook writes for later commands are lost' },
    }),
    refusedAnswer: hooks('continued'),
    runsOnce: hooks(true),
    readsTranscripts: hooks(true),
    input: 'unknown',
  },
};
