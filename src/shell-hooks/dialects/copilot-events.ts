import { jsonText } from '../run/plain-json.js';
import { type DialectEvent, type DialectInputSource, namedEvent, resultText } from './dialect.js';
import type { JsonMap } from './parse-events.js';

/** An event of Copilot and its additional input fields. */
interface CopilotEvent extends DialectEvent {
  readonly input?: (source: DialectInputSource) => JsonMap;
}

type CopilotEvents = Readonly<Record<string, CopilotEvent>>;

/** Events of the GitHub Copilot hooks reference at docs.github.com, file version 1, as of November 2026. */
export const CAMEL_CASE: CopilotEvents = {
  sessionStart: { event: 'session_start' },
  userPromptSubmitted: { event: 'before_agent' },
  preToolUse: { event: 'before_tool', input: toolInput },
  postToolUse: {
    event: 'after_tool',
    after: 'success',
    input: (source) => ({
      ...toolInput(source),
      toolResult: { resultType: 'success', textResultForLlm: resultText(source) ?? '' },
    }),
  },
  postToolUseFailure: {
    event: 'after_tool',
    after: 'failure',
    input: (source) => ({ ...toolInput(source), error: resultText(source) ?? '' }),
  },
  agentStop: { event: 'after_agent', input: () => ({ transcriptPath: '', stopReason: 'end_turn' }) },
  sessionEnd: { event: 'session_end', input: () => ({ reason: 'complete' }) },
};

/** Events in PascalCase, as in Visual Studio Code. Their hooks read fields in snake_case. */
export const PASCAL_CASE: CopilotEvents = {
  SessionStart: { event: 'session_start' },
  UserPromptSubmit: { event: 'before_agent' },
  PreToolUse: {
    event: 'before_tool',
    alias: claudeName,
    input: ({ toolName = '' }) => ({ tool_name: claudeName(toolName) }),
  },
  PostToolUse: {
    event: 'after_tool',
    after: 'success',
    input: (source) => ({
      tool_result: { result_type: 'success', text_result_for_llm: resultText(source) ?? '' },
    }),
  },
  PostToolUseFailure: {
    event: 'after_tool',
    after: 'failure',
    input: (source) => ({ error: resultText(source) ?? '' }),
  },
  Stop: { event: 'after_agent', input: () => ({ stop_reason: 'end_turn' }) },
  SessionEnd: { event: 'session_end', input: () => ({ reason: 'complete' }) },
};

/** Returns the input fields that only hooks of Copilot get. */
export function copilotInput(source: DialectInputSource): JsonMap {
  const { hook, sessionId, now } = source;
  const pascal = namedEvent(PASCAL_CASE, hook);
  if (pascal !== undefined) return pascal.input?.(source) ?? {};
  return { sessionId, timestamp: now, ...namedEvent(CAMEL_CASE, hook)?.input?.(source) };
}

/** `toolArgs` is a JSON string, as in version 1.0 of the CLI. */
function toolInput({ fields, toolName, redact }: DialectInputSource): JsonMap {
  return { toolName, toolArgs: jsonText(redact(fields.flat?.tool_input ?? {})) };
}

/** Names that hooks at `PreToolUse` read in place of Copilot's own tool names. */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  bash: 'Bash',
  powershell: 'Bash',
  view: 'Read',
  create: 'Write',
  edit: 'Edit',
  str_replace_editor: 'Edit',
  apply_patch: 'Edit',
  grep: 'Grep',
  rg: 'Grep',
  glob: 'Glob',
  web_fetch: 'WebFetch',
  web_search: 'WebSearch',
  ask_user: 'AskUserQuestion',
  update_todo: 'TodoWrite',
  task: 'Agent',
};

function claudeName(toolName: string): string {
  return Object.hasOwn(CLAUDE_NAMES, toolName) ? (CLAUDE_NAMES[toolName] ?? toolName) : toolName;
}
