import { from } from './cell.js';
import { CLAUDE_FIELDS } from './claude.js';
import type { Program } from './program.js';

const hooks = from('https://learn.chatgpt.com/docs/hooks');
const source = (file: string) => from(`https://github.com/openai/codex/blob/main/codex-rs/hooks/src/${file}`);

/** Codex. Its MCP servers are in a TOML file, which Keelson does not read. */
export const codex: Program = {
  id: 'codex',
  name: 'Codex',
  version: '0.160',
  read: '2026-11',
  hooks: {
    files: hooks({ user: ['.codex/hooks.json'], workspace: ['.codex/hooks.json'] }),
    form: hooks({ grouped: true }),
    entry: hooks({
      types: ['command'],
      command: ['command'],
      timeout: ['timeout'],
      onFailure: true,
      background: ['async'],
      without: {
        args: 'the program has no such field, and the command runs without these arguments',
        if: 'the program has no such field, and the hook runs at each call',
        asyncRewake: 'the program has no such field, and the agent waits for the hook',
      },
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(true),
    events: hooks({
      SessionStart: { event: 'session_start', matched: true },
      UserPromptSubmit: { event: 'before_agent' },
      PreToolUse: { event: 'before_tool', matched: true, aliases: true },
      PostToolUse: { event: 'after_tool', matched: true, aliases: true },
      Stop: { event: 'after_agent' },
      SessionEnd: { event: 'session_end', matched: true },
      SubagentStart: { event: 'before_subagent', matched: true },
      SubagentStop: { event: 'after_subagent', matched: true },
      PreCompact: { event: 'before_compaction', matched: true },
      PostCompact: { event: 'after_compaction', matched: true, notifies: true },
      PermissionRequest: { event: 'permission_request', matched: true, aliases: true },
      Interrupt: { absent: 'an abort ends the run without hooks' },
    }),
    // A name that contains `-`, a blank or `,` is a pattern.
    matcher: source('events/common.rs')('words-or-pattern'),
    matchesSources: hooks(true),
    tools: hooks({
      Bash: { args: ['command'] },
      apply_patch: { args: ['command'], aliases: ['Write', 'Edit'] },
      spawn_agent: { aliases: ['Agent'] },
    }),
    mcpTool: hooks('mcp__<server>__<tool>'),
    pluginTool: 'unknown',
    answer: hooks({
      // Codex treats three answers as errors: `ask`, `continue: false` at PreToolUse, and a refusal without a reason.
      // Keelson obeys these answers.
      fields: {
        continue: { type: 'boolean', means: 'stop', notAt: ['session_start', 'session_end', 'before_subagent'] },
        stopReason: { type: 'text', means: 'reason', notAt: ['session_start', 'session_end', 'before_subagent'] },
        ...CLAUDE_FIELDS,
        'hookSpecificOutput.additionalContext': {
          type: 'text',
          means: 'context',
          at: ['session_start', 'before_agent', 'before_subagent', 'before_tool', 'after_tool'],
        },
      },
      // At PostToolUse, the reason of a refusal replaces the result.
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
      text: {
        session_start: 'context',
        before_agent: 'context',
        before_subagent: 'context',
        after_agent: 'unknown',
        after_subagent: 'unknown',
      },
    }),
    unknownAnswerRefuses: source('engine/output_parser.rs')(false),
    refusingFailures: source('events/pre_tool_use.rs')([]),
    startsIn: hooks('workspace'),
    variables: hooks({ workspace: [], package: ['PLUGIN_ROOT', 'CLAUDE_PLUGIN_ROOT'], data: 'PLUGIN_DATA' }),
    refusedAnswer: hooks('continued'),
    runsOnce: source('engine/dispatcher.rs')(false),
    readsTranscripts: hooks(false),
    input: hooks({ turn_id: '$run' }),
  },
};
