import { from } from './cell.js';
import type { Program } from './program.js';

const GITHUB = 'https://docs.github.com/en/copilot/reference/hooks-reference';
const VS_CODE = 'https://code.visualstudio.com/docs/agents/reference/hooks-reference';
const ADD_SERVERS = 'https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers';

const TOOLS =
  'https://github.com/microsoft/vscode-copilot-chat/blob/main/src/extension/chatSessions/copilotcli/common/copilotCLITools.ts';

const hooks = from(GITHUB);
const both = from(GITHUB, VS_CODE);
const mcp = from(ADD_SERVERS);

/**
 * Hook events that Visual Studio Code has too. At each of them, a hook may return `continue`, `stopReason` and
 * `systemMessage`.
 */
const VS_CODE_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'SubagentStart',
  'SubagentStop',
  'Stop',
];
const CALL = { toolName: '$tool', toolArgs: '$argsJson' } as const;
const SESSION = { sessionId: '$session', timestamp: '$now' } as const;
const WORDS = { allow: 'allow', deny: 'refuse', ask: 'ask' } as const;
const BLOCK = { block: 'refuse', allow: 'allow' } as const;

/** GitHub Copilot CLI, and the Copilot cloud agent. */
export const copilot: Program = {
  id: 'copilot',
  name: 'GitHub Copilot',
  version: '1.0',
  read: '2026-11',
  hooks: {
    files: hooks({
      user: ['.copilot/hooks/*.json', '.copilot/settings.json'],
      workspace: ['.github/hooks/*.json', '.github/copilot/settings.json', '.github/copilot/settings.local.json'],
    }),
    form: hooks({}),
    entry: hooks({
      types: ['command', 'http'],
      http: { url: 'url', headers: 'headers', variables: 'allowedEnvVars' },
      command: ['bash', 'command'],
      program: 'exec',
      timeout: ['timeoutSec', 'timeout'],
      env: true,
      cwd: true,
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(false),
    events: both({
      sessionStart: { event: 'session_start', input: SESSION },
      userPromptSubmitted: { event: 'before_agent', input: SESSION },
      preToolUse: { event: 'before_tool', matched: true, input: { ...SESSION, ...CALL } },
      postToolUse: {
        event: 'after_tool',
        after: 'success',
        matched: true,
        input: { ...SESSION, ...CALL, toolResult: { resultType: 'success', textResultForLlm: '$text' } },
      },
      postToolUseFailure: {
        event: 'after_tool',
        after: 'failure',
        input: { ...SESSION, ...CALL, error: '$text' },
      },
      agentStop: { event: 'after_agent', input: { ...SESSION, transcriptPath: '', stopReason: 'end_turn' } },
      sessionEnd: { event: 'session_end', input: { ...SESSION, reason: 'complete' } },
      SessionStart: { event: 'session_start' },
      UserPromptSubmit: { event: 'before_agent' },
      PreToolUse: { event: 'before_tool', matched: true, aliases: true, input: { tool_name: '$alias' } },
      PostToolUse: {
        event: 'after_tool',
        after: 'success',
        matched: true,
        input: { tool_result: { result_type: 'success', text_result_for_llm: '$text' } },
      },
      PostToolUseFailure: { event: 'after_tool', after: 'failure', input: { error: '$text' } },
      Stop: { event: 'after_agent', input: { stop_reason: 'end_turn' } },
      SessionEnd: { event: 'session_end', input: { reason: 'complete' } },
      errorOccurred: { event: 'run_failed', notifies: true, input: SESSION },
      ErrorOccurred: { event: 'run_failed', notifies: true },
      notification: { event: 'notification', matched: true, input: SESSION },
      Notification: { event: 'notification', matched: true },
      preCompact: { event: 'before_compaction', matched: true, notifies: true, input: SESSION },
      PreCompact: { event: 'before_compaction', matched: true },
      subagentStart: { event: 'before_subagent', matched: true, input: SESSION },
      SubagentStart: { event: 'before_subagent', matched: true },
      subagentStop: { event: 'after_subagent', input: SESSION },
      SubagentStop: { event: 'after_subagent' },
      permissionRequest: { event: 'permission_request', matched: true, input: { ...SESSION, ...CALL } },
      PermissionRequest: { event: 'permission_request', matched: true, aliases: true },
      userPromptTransformed: { absent: 'prompts are not transformed here' },
    }),
    matcher: hooks('whole-name'),
    matchesSources: hooks(true),
    tools: from(
      GITHUB,
      TOOLS,
    )({
      bash: { args: ['command'], aliases: ['Bash'] },
      powershell: { aliases: ['Bash'] },
      view: { args: ['path'], aliases: ['Read'] },
      create: { args: ['path', 'file_text'], aliases: ['Write'] },
      edit: { args: ['path', 'old_str', 'new_str'], aliases: ['Edit'] },
      str_replace_editor: { aliases: ['Edit'] },
      apply_patch: { aliases: ['Edit'] },
      grep: { aliases: ['Grep'] },
      rg: { aliases: ['Grep'] },
      glob: { aliases: ['Glob'] },
      web_fetch: { aliases: ['WebFetch'] },
      web_search: { aliases: ['WebSearch'] },
      ask_user: { aliases: ['AskUserQuestion'] },
      update_todo: { aliases: ['TodoWrite'] },
      task: { aliases: ['Agent', 'Task'] },
    }),
    mcpTool: 'unknown',
    pluginTool: 'unknown',
    answer: both({
      fields: {
        permissionDecision: { type: 'words', words: WORDS, means: 'decision', at: ['before_tool'] },
        permissionDecisionReason: { type: 'text', means: 'reason', at: ['before_tool'] },
        decision: {
          type: 'words',
          words: BLOCK,
          means: 'decision',
          at: ['after_agent', 'after_subagent', 'PostToolUse'],
        },
        reason: { type: 'text', means: 'reason', at: ['after_agent', 'after_subagent', 'PostToolUse'] },
        behavior: {
          type: 'words',
          words: { deny: 'refuse', allow: 'allow' },
          means: 'decision',
          at: ['permission_request'],
        },
        message: { type: 'text', means: 'reason', at: ['permission_request'] },
        modifiedArgs: { type: 'object', means: 'input', at: ['before_tool'] },
        modifiedResult: { type: 'object', means: 'copilot-result', at: ['after_tool'] },
        additionalContext: {
          type: 'text',
          means: 'context',
          at: ['session_start', 'after_tool', 'before_subagent', 'notification'],
        },
        continue: { type: 'boolean', means: 'stop', at: VS_CODE_EVENTS },
        stopReason: { type: 'text', means: 'reason', at: VS_CODE_EVENTS },
        systemMessage: { type: 'text', means: 'user', at: VS_CODE_EVENTS },
        'hookSpecificOutput.permissionDecision': {
          type: 'words',
          words: WORDS,
          means: 'decision',
          at: ['PreToolUse'],
        },
        'hookSpecificOutput.permissionDecisionReason': { type: 'text', means: 'reason', at: ['PreToolUse'] },
        'hookSpecificOutput.updatedInput': { type: 'object', means: 'input', at: ['PreToolUse'] },
        'hookSpecificOutput.additionalContext': {
          type: 'text',
          means: 'context',
          at: ['SessionStart', 'PreToolUse', 'PostToolUse', 'SubagentStart'],
        },
        'hookSpecificOutput.decision': {
          type: 'words',
          words: BLOCK,
          means: 'decision',
          at: ['Stop', 'SubagentStop'],
        },
        'hookSpecificOutput.reason': { type: 'text', means: 'reason', at: ['Stop', 'SubagentStop'] },
      },
      // At this event the sub-agent has ended, so its caller reads the reason.
      refusal: {
        before_tool: 'cancel',
        permission_request: 'cancel',
        after_agent: 'again',
        after_subagent: 'context',
        PostToolUse: 'context',
        '*': 'none',
      },
      exit2: {
        before_tool: 'cancel',
        permission_request: 'cancel',
        postToolUseFailure: 'stdout-context',
        PostToolUseFailure: 'stdout-context',
        // At these events, Visual Studio Code stops, and the model reads the error.
        UserPromptSubmit: 'cancel',
        PreCompact: 'cancel',
        Stop: 'again',
        SubagentStop: 'context',
        PostToolUse: 'context',
        '*': 'user',
      },
      ignoredAt: ['userPromptSubmitted', 'session_end'],
      hasProgress: true,
    }),
    unknownAnswerRefuses: hooks(false),
    refusingFailures: hooks(['not-started', 'signaled', 'exit-code', 'output-limit']),
    startsIn: hooks('workspace'),
    variables: hooks({ workspace: [], package: [] }),
    refusedAnswer: hooks('continued'),
    runsOnce: 'unknown',
    readsTranscripts: 'unknown',
    input: hooks({}),
  },
  servers: {
    files: mcp(['.copilot/mcp-config.json', '.github/mcp.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({ tools: 'includeTools' }),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: 'unknown',
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
