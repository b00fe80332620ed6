import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookReading } from '../hook/effects.js';
import type { HookDialect, HookEvent } from '../hook/event.js';
import { readClaude } from './claude.js';
import { readGemini } from './gemini.js';
import { readNative } from './native.js';

const CLAUDE_NAMES: Readonly<Partial<Record<HookEvent, string>>> = {
  session_start: 'SessionStart',
  before_agent: 'UserPromptSubmit',
  before_tool: 'PreToolUse',
  after_tool: 'PostToolUse',
  after_agent: 'Stop',
  session_end: 'SessionEnd',
};
const GEMINI_NAMES: Readonly<Partial<Record<HookEvent, string>>> = {
  session_start: 'SessionStart',
  before_agent: 'BeforeAgent',
  before_model: 'BeforeModel',
  before_tool_selection: 'BeforeToolSelection',
  after_model: 'AfterModel',
  before_tool: 'BeforeTool',
  after_tool: 'AfterTool',
  after_agent: 'AfterAgent',
  session_end: 'SessionEnd',
};
const NAMES = { native: {}, claude: CLAUDE_NAMES, codex: CLAUDE_NAMES, gemini: GEMINI_NAMES } as const;

const READERS: Readonly<Record<HookDialect, (run: FinishedHook) => HookReading>> = {
  native: readNative,
  claude: readClaude,
  codex: readClaude,
  gemini: readGemini,
};

/** What a hook's dialect calls its event. */
export function dialectEventOf({ dialect, dialectEvent, event }: ShellHook): string {
  const names: Readonly<Partial<Record<HookEvent, string>>> = NAMES[dialect];
  return dialectEvent ?? names[event] ?? event;
}

/** Reads what a finished hook said, by the rules of its dialect. */
export function readHook(run: FinishedHook): HookReading {
  return READERS[run.hook.dialect](run);
}

/** How a tool is named in a dialect, where the host says nothing else: `mcp__server__tool` is one word more in Gemini. */
export function toolNameIn(dialect: HookDialect, name: string): string {
  return dialect === 'gemini' && name.startsWith('mcp__') ? name.replaceAll('__', '_') : name;
}
