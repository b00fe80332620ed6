import { from } from './cell.js';
import type { Program } from './program.js';

const mcp = from('https://code.visualstudio.com/docs/agents/reference/mcp-configuration');

const hooks = from('https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference');
const vscode = from('https://code.visualstudio.com/docs/agents/reference/hooks-reference');

/** Events in PascalCase, as in Visual Studio Code. Their hooks read and write other fields. */
const PASCAL_CASE = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'SessionEnd',
];
const CALL = { toolName: '$tool', toolArgs: '$argsJson' } as const;
const SESSION = { sessionId: '$session', timestamp: '$now' } as const;
/** A guess about its answers could let something pass. */
const UNDESCRIBED = 'no source describes what its answers mean';
const WORDS = { allow: 'allow', deny: 'refuse', ask: 'ask' } as const;

/** GitHub Copilot CLI, and the Copilot cloud agent. */
export const copilot: Program = {
  id: 'copilot',
  name: 'GitHub Copilot',
  version: '1.0',
  read: '2026-11',
  hooks: {
    files: hooks({ user: ['.copilot/hooks/*.json'], workspace: ['.github/hooks/*.json'] }),
    form: hooks({}),
    entry: hooks({
      types: ['command'],
      command: ['bash', 'command'],
      program: 'exec',
      timeout: ['timeoutSec', 'timeout'],
      env: true,
      cwd: true,
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(false),
    events: hooks({
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
        matched: true,
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
      PostToolUseFailure: { event: 'after_tool', after: 'failure', matched: true, input: { error: '$text' } },
      Stop: { event: 'after_agent', input: { stop_reason: 'end_turn' } },
      SessionEnd: { event: 'session_end', input: { reason: 'complete' } },
      errorOccurred: { event: 'run_failed', told: true, input: SESSION },
      ErrorOccurred: { event: 'run_failed', told: true },
      notification: { event: 'notification', told: true, input: SESSION },
      Notification: { event: 'notification', told: true },
      preCompact: { event: 'before_compaction', told: true, input: SESSION },
      PreCompact: { event: 'before_compaction', told: true },
      subagentStart: { event: 'before_subagent', told: true, input: SESSION },
      SubagentStart: { event: 'before_subagent', told: true },
      subagentStop: { absent: UNDESCRIBED, guards: true },
      SubagentStop: { absent: UNDESCRIBED, guards: true },
      permissionRequest: { event: 'permission_request', matched: true, input: { ...SESSION, ...CALL } },
      PermissionRequest: { event: 'permission_request', matched: true, aliases: true },
      userPromptTransformed: { absent: 'prompts are not transformed here', guards: true },
    }),
    matcher: hooks('whole-name'),
    matchesSources: 'unknown',
    tools: hooks({
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
    answer: vscode({
      fields: {
        permissionDecision: { type: 'words', words: WORDS, means: 'decision', at: ['before_tool'] },
        permissionDecisionReason: { type: 'text', means: 'reason', at: ['before_tool'] },
        decision: {
          type: 'words',
          words: { block: 'refuse', allow: 'allow' },
          means: 'decision',
          at: ['after_agent'],
        },
        reason: { type: 'text', means: 'reason', at: ['after_agent'] },
        behavior: {
          type: 'words',
          words: { deny: 'refuse', allow: 'allow' },
          means: 'decision',
          at: ['permission_request'],
        },
        modifiedArgs: { type: 'object', means: 'input', at: ['before_tool'] },
        modifiedResult: { type: 'object', means: 'copilot-result', at: ['after_tool'] },
        additionalContext: { type: 'text', means: 'context', at: ['session_start', 'after_tool'] },
        continue: { type: 'boolean', means: 'stop', at: PASCAL_CASE },
        stopReason: { type: 'text', means: 'reason', at: PASCAL_CASE },
        systemMessage: { type: 'text', means: 'user', at: PASCAL_CASE },
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
          at: PASCAL_CASE.filter((name) => name !== 'Stop'),
        },
      },
      refusal: { before_tool: 'cancel', permission_request: 'cancel', after_agent: 'again', '*': 'none' },
      exit2: {
        before_tool: 'cancel',
        permission_request: 'cancel',
        postToolUseFailure: 'stdout-context',
        PostToolUseFailure: 'stdout-context',
        '*': 'user',
      },
      ignoredAt: ['before_agent', 'session_end'],
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
    files: mcp(['.copilot/mcp-config.json']),
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
