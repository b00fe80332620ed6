import { from } from './cell.js';
import type { Program } from './program.js';
import { EDITOR_VARIABLES } from './server-programs.js';

const PAGE = 'https://cursor.com/docs/hooks';
const PLUGIN = 'https://github.com/cursor/plugins/blob/main/evolver/hooks/hooks.json';
const REFUSED = 'https://github.com/aovestdipaperino/tokensave/issues/187';

const mcp = from('https://cursor.com/docs/mcp');
const hooks = from(PAGE);
const plugins = from(PAGE, PLUGIN);

const WORDS = { allow: 'allow', deny: 'refuse', ask: 'ask' } as const;

/** Cursor. */
export const cursor: Program = {
  id: 'cursor',
  name: 'Cursor',
  version: '2026.09',
  read: '2026-11',
  hooks: {
    files: hooks({ user: ['.cursor/hooks.json'], workspace: ['.cursor/hooks.json'] }),
    form: 'unknown',
    entry: hooks({
      types: ['command'],
      command: ['command'],
      timeout: ['timeout'],
      failClosed: 'failClosed',
      without: { loop_limit: 'the option `maxContinuations` limits how often hooks make the agent continue' },
    }),
    timeUnit: hooks('seconds'),
    defaultTimeout: hooks(true),
    events: hooks({
      sessionStart: { event: 'session_start', input: { is_background_agent: false, composer_mode: 'agent' } },
      beforeSubmitPrompt: { event: 'before_agent', input: { attachments: [] } },
      preToolUse: { event: 'before_tool', matched: true },
      beforeShellExecution: {
        event: 'before_tool',
        tools: 'Shell',
        subject: 'command',
        matched: true,
        input: { command: '$command', sandbox: false },
      },
      beforeMCPExecution: {
        event: 'before_tool',
        tools: 'mcp',
        input: { tool_name: '$mcpTool', tool_input: '$argsJson' },
      },
      beforeReadFile: {
        event: 'before_tool',
        tools: 'Read',
        matched: true,
        input: { file_path: '$path', content: '$fileStart', attachments: [] },
      },
      postToolUse: {
        event: 'after_tool',
        after: 'success',
        matched: true,
        input: { tool_output: '$structuredJson' },
      },
      postToolUseFailure: {
        event: 'after_tool',
        after: 'failure',
        notifies: true,
        matched: true,
        input: { error_message: '$text', failure_type: 'error', is_interrupt: false },
      },
      afterShellExecution: {
        event: 'after_tool',
        notifies: true,
        tools: 'Shell',
        subject: 'command',
        matched: true,
        input: { command: '$command', output: '$text', sandbox: false },
      },
      afterMCPExecution: {
        event: 'after_tool',
        notifies: true,
        tools: 'mcp',
        input: { tool_name: '$mcpTool', tool_input: '$argsJson', result_json: '$resultJson' },
      },
      afterFileEdit: {
        event: 'after_tool',
        notifies: true,
        after: 'success',
        tools: 'Write',
        matched: true,
        input: { file_path: '$path', edits: '$edits' },
      },
      stop: { event: 'after_agent', input: { status: 'completed' } },
      afterAgentResponse: { event: 'after_agent', notifies: true, input: { text: '$response' } },
      sessionEnd: {
        event: 'session_end',
        notifies: true,
        input: { reason: 'completed', final_status: 'completed' },
      },
      subagentStart: { event: 'before_subagent', matched: true },
      subagentStop: { event: 'after_subagent', matched: true, input: { status: 'completed' } },
      preCompact: { event: 'before_compaction', notifies: true },
      afterAgentThought: { absent: 'the thoughts of a model are not an event here' },
      workspaceOpen: { absent: 'there is no editor here' },
      beforeTabFileRead: { absent: 'there is no editor here', guards: true },
      afterTabFileEdit: { absent: 'there is no editor here' },
    }),
    matcher: hooks('pattern'),
    matchesSources: hooks(true),
    tools: hooks({ Shell: { args: ['command'] } }),
    mcpTool: hooks('MCP:<tool>'),
    pluginTool: 'unknown',
    answer: hooks({
      fields: {
        continue: { type: 'boolean', means: 'refuse' },
        // Before a sub-agent, Cursor treats `ask` like `deny`.
        permission: [
          { type: 'words', words: WORDS, means: 'decision', notAt: ['before_subagent'] },
          { type: 'words', words: { ...WORDS, ask: 'refuse' }, means: 'decision', at: ['before_subagent'] },
        ],
        updated_input: { type: 'object', means: 'input', at: ['preToolUse'] },
        agent_message: { type: 'text', means: 'reason' },
        user_message: { type: 'text', means: 'user-of-refusal' },
        // Cursor 1.7 documented its messages in camelCase.
        agentMessage: { type: 'text', means: 'reason' },
        userMessage: { type: 'text', means: 'user-of-refusal' },
        additional_context: { type: 'text', means: 'context', at: ['session_start', 'after_tool'] },
        updated_mcp_tool_output: { type: 'any', means: 'result', at: ['after_tool'] },
        followup_message: [
          { type: 'text', means: 'again', at: ['after_agent'] },
          { type: 'text', means: 'context', at: ['after_subagent'] },
        ],
      },
      refusal: { before_tool: 'cancel', before_agent: 'cancel', before_subagent: 'cancel', '*': 'user' },
      text: { before_tool: 'unknown', before_subagent: 'unknown' },
      needs: { before_tool: 'permission' },
    }),
    unknownAnswerRefuses: from(PAGE, REFUSED)(true),
    refusingFailures: hooks([]),
    startsIn: hooks('file'),
    variables: plugins({
      workspace: ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
      package: ['CURSOR_PLUGIN_ROOT'],
    }),
    refusedAnswer: hooks('continued'),
    runsOnce: 'unknown',
    readsTranscripts: 'unknown',
    input: hooks({
      conversation_id: '$session',
      generation_id: '$run',
      workspace_roots: '$workspaces',
      user_email: null,
      transcript_path: null,
    }),
  },
  servers: {
    files: mcp(['.cursor/mcp.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({}),
    inner: mcp(undefined),
    lists: 'unknown',
    timeUnit: 'unknown',
    startsIn: 'unknown',
    variables: mcp(EDITOR_VARIABLES),
    environment: 'unknown',
    unset: 'unknown',
    urlMeans: 'unknown',
  },
};
