import { from } from './cell.js';
import type { AnswerTable } from './hook-table.js';
import type { Program } from './program.js';

const plugins = from('https://code.claude.com/docs/en/plugins-reference');
const mcp = from('https://code.claude.com/docs/en/mcp');

const HOOKS = 'https://code.claude.com/docs/en/hooks';
/** The page that describes answers of hooks with the field `async`. */
const SDK = 'https://github.com/anthropics/claude-agent-sdk-python/blob/main/src/claude_agent_sdk/types.py';
const hooks = from(HOOKS);

/**
 * The decision that each word in a hook's answer stands for. `defer` leaves the decision to a person, as `ask` does.
 *
 * Claude Code accepts some words in one field only, but here every decision field accepts all of them. More answers
 * then count as a refusal, which is safer.
 */
const WORDS = { deny: 'refuse', block: 'refuse', ask: 'ask', defer: 'ask', allow: 'allow', approve: 'allow' } as const;

/** The fields that a hook of Claude Code may return. Codex uses the same fields. */
export const CLAUDE_FIELDS: AnswerTable['fields'] = {
  decision: { type: 'words', words: WORDS, means: 'decision' },
  reason: { type: 'text', means: 'reason' },
  systemMessage: { type: 'text', means: 'user' },
  'hookSpecificOutput.permissionDecision': { type: 'words', words: WORDS, means: 'decision' },
  'hookSpecificOutput.permissionDecisionReason': { type: 'text', means: 'reason' },
  'hookSpecificOutput.decision.behavior': {
    type: 'words',
    words: { deny: 'refuse', allow: 'allow' },
    means: 'decision',
    at: ['permission_request'],
  },
  'hookSpecificOutput.decision.message': { type: 'text', means: 'reason', at: ['permission_request'] },
  'hookSpecificOutput.updatedInput': { type: 'object', means: 'input', at: ['before_tool'] },
};

/** Events at which a hook that returns `continue: false` stops nothing. */
const NOT_STOPPED = ['session_start', 'session_end', 'notification', 'before_compaction'];

/** Claude Code. */
export const claude: Program = {
  id: 'claude',
  name: 'Claude Code',
  version: '2.1.295',
  read: '2026-11',
  hooks: {
    files: hooks({
      user: ['.claude/settings.json'],
      workspace: ['.claude/settings.json', '.claude/settings.local.json'],
    }),
    form: hooks({ grouped: true }),
    entry: hooks({
      types: ['command', 'http'],
      http: { url: 'url', headers: 'headers', variables: 'allowedEnvVars' },
      command: ['command'],
      argsWithoutShell: true,
      timeout: ['timeout'],
      onFailure: true,
      condition: 'if',
      background: ['async', 'asyncRewake'],
      without: {
        asyncRewake: 'it does not wake the model here: what such a hook writes is a message for the user',
      },
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(true),
    events: hooks({
      SessionStart: { event: 'session_start', matched: true },
      UserPromptSubmit: { event: 'before_agent' },
      PreToolUse: { event: 'before_tool', matched: true },
      PostToolUse: { event: 'after_tool', after: 'success', matched: true },
      PostToolUseFailure: { event: 'after_tool', after: 'failure', matched: true },
      Stop: { event: 'after_agent' },
      SessionEnd: { event: 'session_end', matched: true },
      Notification: { event: 'notification', matched: true },
      SubagentStart: { event: 'before_subagent', matched: true },
      SubagentStop: { event: 'after_subagent', matched: true },
      PreCompact: { event: 'before_compaction', matched: true },
      PostCompact: { event: 'after_compaction', matched: true, notifies: true },
      PermissionRequest: { event: 'permission_request', matched: true },
      PermissionDenied: {
        event: 'permission_denied',
        matched: true,
        notifies: true,
        differs: 'its hooks run when a person denies a call, and `retry` has no effect',
      },
      PostToolBatch: { event: 'after_tools' },
      StopFailure: { event: 'run_failed', notifies: true },
      Elicitation: { absent: 'questions of MCP servers go to the option `elicit` of `mcpServers`', guards: true },
      ElicitationResult: { absent: 'questions of MCP servers go to the option `elicit` of `mcpServers`', guards: true },
      UserPromptExpansion: { absent: 'no command is expanded here', guards: true },
      TaskCreated: { absent: 'there are no task lists here', guards: true },
      TaskCompleted: { absent: 'there are no task lists here', guards: true },
      TeammateIdle: { absent: 'there are no teams of agents here', guards: true },
      ConfigChange: { absent: 'changed files take effect with `reload` only', guards: true },
      PreModelSwitch: { absent: 'the model of an agent does not change', guards: true },
      PostModelSwitch: { absent: 'the model of an agent does not change' },
      Setup: { absent: 'there is no installation here' },
      MessageDisplay: { absent: 'the host application displays messages' },
      InstructionsLoaded: { absent: 'the host application gives the instructions' },
      CwdChanged: { absent: 'the directory of an agent does not change' },
      FileChanged: { absent: 'no files are watched here' },
      DirectoryAdded: { absent: 'the workspace does not change' },
      WorktreeCreate: { absent: 'there are no worktrees here', guards: true },
      WorktreeRemove: { absent: 'there are no worktrees here', guards: true },
    }),
    matcher: hooks('names-or-pattern'),
    matchesSources: hooks(true),
    tools: from('https://code.claude.com/docs/en/agent-sdk/typescript')({
      Bash: { args: ['command'] },
      Read: { args: ['file_path'] },
      Write: { args: ['file_path', 'content'] },
      Edit: { args: ['file_path', 'old_string', 'new_string'] },
      NotebookEdit: { args: ['notebook_path', 'new_source'] },
      Glob: { args: ['pattern'] },
      Grep: { args: ['pattern'] },
      WebFetch: { args: ['url', 'prompt'] },
      WebSearch: { args: ['query'] },
      Agent: { args: ['prompt', 'description'] },
    }),
    mcpTool: hooks('mcp__<server>__<tool>'),
    pluginTool: hooks('mcp__plugin_<plugin>_<server>__<tool>'),
    answer: from(
      HOOKS,
      SDK,
    )({
      fields: {
        continue: { type: 'boolean', means: 'stop', notAt: NOT_STOPPED },
        stopReason: { type: 'text', means: 'reason', notAt: NOT_STOPPED },
        ...CLAUDE_FIELDS,
        // At Stop, context for the model makes the agent continue.
        'hookSpecificOutput.additionalContext': [
          { type: 'text', means: 'context', notAt: ['after_agent'] },
          { type: 'text', means: 'again', at: ['after_agent'] },
        ],
        'hookSpecificOutput.updatedToolOutput': { type: 'any', means: 'result', at: ['after_tool'] },
        'hookSpecificOutput.updatedMCPToolOutput': { type: 'any', means: 'result', at: ['after_tool'] },
      },
      // Newer versions ignore exit code 2 at PermissionRequest, but Keelson refuses. At PostToolUse, the model gets the
      // refused result and the reason. At SubagentStop, the sub-agent has ended, so its caller reads the reason.
      refusal: {
        before_tool: 'cancel',
        before_agent: 'cancel',
        before_compaction: 'cancel',
        permission_request: 'cancel',
        after_tools: 'cancel',
        after_tool: 'context',
        after_subagent: 'context',
        after_agent: 'again',
        '*': 'user',
      },
      text: { session_start: 'context', before_agent: 'context' },
      detaches: true,
    }),
    unknownAnswerRefuses: hooks(false),
    refusingFailures: hooks([]),
    startsIn: hooks('workspace'),
    variables: hooks({
      workspace: ['CLAUDE_PROJECT_DIR'],
      package: ['CLAUDE_PLUGIN_ROOT'],
      data: 'CLAUDE_PLUGIN_DATA',
      missing: { CLAUDE_ENV_FILE: 'variables that the hook writes for later commands are lost' },
    }),
    refusedAnswer: hooks('continued'),
    runsOnce: hooks(true),
    readsTranscripts: hooks(true),
    input: hooks({ tool_response: '$claudeResult' }),
  },
  servers: {
    files: mcp(['.mcp.json', '.claude.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({}),
    inner: mcp(undefined),
    lists: mcp({}),
    timeUnit: mcp('milliseconds'),
    startsIn: from('https://github.com/anthropics/claude-code/issues/17565')('workspace'),
    variables: mcp({ CLAUDE_PROJECT_DIR: 'workspace', CLAUDE_PLUGIN_ROOT: 'package' }),
    environment: plugins(['CLAUDE_PROJECT_DIR', 'CLAUDE_PLUGIN_ROOT']),
    // If a variable has no value, the program keeps the string `${NAME}`.
    unset: 'unknown',
    urlMeans: 'unknown',
  },
  packages: {
    manifest: plugins('.claude-plugin/plugin.json'),
    parts: plugins(['hooks/hooks.json', '.mcp.json', 'skills', 'commands', 'agents']),
  },
};
