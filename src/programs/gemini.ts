import { from } from './cell.js';
import type { Program } from './program.js';

const file = (path: string) => from(`https://github.com/google-gemini/gemini-cli/blob/main/${path}`);
const mcp = file('docs/tools/mcp-server.md');
const client = file('packages/core/src/tools/mcp-client.ts');
const extensions = file('docs/extensions/reference.md');

const hooks = file('docs/hooks/reference.md');
const overview = file('docs/hooks/index.md');
const runner = file('packages/core/src/hooks/hookRunner.ts');
const planner = file('packages/core/src/hooks/hookPlanner.ts');

/** Events at which a hook that returns `continue: false` stops nothing. */
const NOT_STOPPED = ['session_start', 'session_end', 'before_tool_selection', 'notification', 'before_compaction'];

/** Gemini CLI. */
export const gemini: Program = {
  id: 'gemini',
  name: 'Gemini CLI',
  version: '0.56',
  read: '2026-11',
  hooks: {
    files: overview({ user: ['.gemini/settings.json'], workspace: ['.gemini/settings.json'] }),
    form: file('packages/cli/src/config/settings.ts')({ comments: true, grouped: true }),
    entry: hooks({
      types: ['command'],
      command: ['command'],
      timeout: ['timeout'],
      onFailure: true,
      env: true,
      quotesFolders: true,
    }),
    timeUnit: hooks('milliseconds'),
    defaultTimeout: hooks(true),
    events: hooks({
      SessionStart: { event: 'session_start', matched: true },
      BeforeAgent: { event: 'before_agent' },
      BeforeModel: { event: 'before_model', input: { llm_request: '$geminiRequest' } },
      BeforeToolSelection: { event: 'before_tool_selection', input: { llm_request: '$geminiRequest' } },
      AfterModel: {
        event: 'after_model',
        differs: 'its hooks run once for each response here, not for each chunk',
        input: { llm_request: '$geminiRequest', llm_response: '$geminiResponse' },
      },
      BeforeTool: { event: 'before_tool', matched: true },
      AfterTool: { event: 'after_tool', matched: true, input: { tool_response: '$geminiResult' } },
      AfterAgent: { event: 'after_agent' },
      SessionEnd: { event: 'session_end', matched: true },
      Notification: { event: 'notification', matched: true },
      PreCompress: { event: 'before_compaction', matched: true },
    }),
    matcher: planner('pattern-or-name'),
    matchesSources: hooks(true),
    tools: file('packages/core/src/tools/definitions/model-family-sets/default-legacy.ts')({
      run_shell_command: { args: ['command'] },
      read_file: { args: ['file_path'] },
      write_file: { args: ['file_path', 'content'] },
      replace: { args: ['file_path', 'old_string', 'new_string'] },
      list_directory: { args: ['dir_path'] },
      glob: { args: ['pattern'] },
      grep_search: { args: ['pattern'] },
      web_fetch: { args: ['prompt'] },
      google_web_search: { args: ['query'] },
    }),
    mcpTool: hooks('mcp_<server>_<tool>'),
    pluginTool: 'unknown',
    answer: hooks({
      fields: {
        continue: { type: 'boolean', means: 'stop', notAt: NOT_STOPPED },
        stopReason: { type: 'text', means: 'reason', notAt: NOT_STOPPED },
        decision: {
          type: 'words',
          words: { deny: 'refuse', block: 'refuse', ask: 'ask', allow: 'allow', approve: 'allow' },
          means: 'decision',
        },
        reason: { type: 'text', means: 'reason' },
        systemMessage: { type: 'text', means: 'user' },
        'hookSpecificOutput.additionalContext': {
          type: 'text',
          means: 'context',
          at: ['session_start', 'before_agent', 'after_tool'],
        },
        'hookSpecificOutput.tool_input': { type: 'object', means: 'input-changes', at: ['before_tool'] },
        'hookSpecificOutput.toolConfig': { type: 'object', means: 'tools', at: ['before_tool_selection'] },
        'hookSpecificOutput.llm_request': { type: 'object', means: 'request', at: ['before_model'] },
        'hookSpecificOutput.llm_response': { type: 'object', means: 'response', at: ['before_model', 'after_model'] },
      },
      refusal: {
        after_agent: 'again',
        after_tool: 'error-result',
        session_start: 'user',
        session_end: 'user',
        notification: 'user',
        before_compaction: 'user',
        before_tool_selection: 'user',
        '*': 'cancel',
      },
      text: { '*': 'user' },
      readsStderr: true,
    }),
    unknownAnswerRefuses: overview(false),
    refusingFailures: overview([]),
    startsIn: runner('workspace'),
    variables: runner({
      workspace: ['GEMINI_PROJECT_DIR', 'GEMINI_CWD', 'CLAUDE_PROJECT_DIR', 'workspacePath'],
      package: [],
      session: ['GEMINI_SESSION_ID'],
      fixed: { pathSeparator: '/' },
      // The program does not set this variable. A command that uses it would get a path that begins at the root
      // directory.
      data: 'CLAUDE_PLUGIN_DATA',
      missing: { GEMINI_PLANS_DIR: 'there are no plans here' },
    }),
    refusedAnswer: hooks('continued'),
    runsOnce: planner(true),
    readsTranscripts: hooks(false),
    input: hooks({}),
  },
  servers: {
    files: mcp(['.gemini/settings.json', 'gemini-extension.json']),
    maps: mcp([['mcpServers']]),
    fields: mcp({ httpUrl: 'url' }),
    inner: mcp(undefined),
    lists: mcp({ off: ['mcp', 'excluded'], on: ['mcp', 'allowed'] }),
    timeUnit: mcp('milliseconds'),
    startsIn: client('workspace'),
    variables: extensions({ workspacePath: 'workspace', extensionPath: 'package', pathSeparator: 'separator' }),
    environment: 'unknown',
    unset: mcp('empty'),
    urlMeans: client('http'),
  },
  packages: {
    manifest: extensions('gemini-extension.json'),
    parts: extensions([]),
  },
};
