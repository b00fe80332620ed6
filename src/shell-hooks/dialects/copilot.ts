import { isObject, type JsonObject } from '../../internal/json.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import { type FinishedHook, type HookEffects, type HookReading, NO_REASON } from '../hook/effects.js';
import type { HookEvent } from '../hook/event.js';
import type { HookProblemKind } from '../hook/problem.js';
import { jsonText } from '../run/plain-json.js';
import { type Dialect, type DialectEvent, type DialectInputSource, namedEvent, resultText } from './dialect.js';
import { type OutputRules, type ParsedOutput, parseOutput, readOutput, textOf, unreadFields } from './output.js';
import {
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  type Place,
  parseEvents,
  problemOfType,
  TOOL_EVENTS,
} from './parse-events.js';

/** An event of Copilot and its additional input fields. */
interface CopilotEvent extends DialectEvent {
  readonly input?: (source: DialectInputSource) => JsonMap;
}

/** Events of the GitHub Copilot hooks reference at docs.github.com, file version 1, as of November 2026. */
const EVENTS: Readonly<Record<string, CopilotEvent>> = {
  sessionStart: { event: 'session_start' },
  userPromptSubmitted: { event: 'before_agent' },
  preToolUse: { event: 'before_tool', input: toolInput },
  postToolUse: {
    event: 'after_tool',
    after: 'success',
    input: (source) => ({ ...toolInput(source), ...shown(source) }),
  },
  postToolUseFailure: {
    event: 'after_tool',
    after: 'failure',
    input: (source) => ({ ...toolInput(source), error: resultText(source) ?? '' }),
  },
  agentStop: { event: 'after_agent', input: () => ({ transcriptPath: '', stopReason: 'end_turn' }) },
  sessionEnd: { event: 'session_end', input: () => ({ reason: 'complete' }) },
};

/** Hooks of the GitHub Copilot CLI and of the Copilot cloud agent. */
export const copilot: Dialect = {
  id: 'copilot',
  events: EVENTS,
  places: { user: ['.copilot/hooks/*.json'], workspace: ['.github/hooks/*.json'] },
  folders: { project: [], extension: [] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasForeignTools: true,
  // A regular expression must match the whole name.
  matcher: (given) => (/^[\w|]+$/.test(given) ? given : `^(?:${given})$`),
  parse: parseCopilot,
  input: inputOf,
  read: readCopilot,
};

function parseCopilot(document: JsonMap, source: HookSource): HookContent {
  return parseEvents(document, source, {
    events: EVENTS,
    other: {
      notices: ['errorOccurred', 'notification', 'preCompact', 'subagentStart'],
      gates: ['permissionRequest', 'subagentStop', 'userPromptTransformed'],
    },
    isGrouped: false,
    matched: TOOL_EVENTS,
    read: readEntry,
  });
}

function readEntry(entry: JsonMap, { eventName }: Place, source: HookSource): HookSettings | string {
  const problem = problemOfType(entry);
  if (problem !== undefined) return problem;
  const { bash, command = bash, exec, args, cwd, env } = entry;
  const text = bash ?? command;
  if (text === undefined && exec === undefined) return 'it must have `bash`, `command` or `exec`';
  const seconds = entry.timeoutSec ?? entry.timeout;
  if (isObject(env) && Object.values(env).some((value) => String(value).includes('$'))) {
    const message = `A hook at ${eventName} has a \`$\` in \`env\`: variables in \`env\` are not expanded.`;
    reportOn(source, { level: 'warning', code: 'env-literal', message });
  }
  return {
    ...(text === undefined ? { command: exec, args: args ?? [], shell: false } : { command: text, shell: 'bash' }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(seconds !== undefined && { timeout: inMilliseconds(seconds) }),
  };
}

function inputOf(source: DialectInputSource): JsonMap {
  const { hook, sessionId, now } = source;
  return { sessionId, timestamp: now, ...namedEvent(EVENTS, hook)?.input?.(source) };
}

/** `toolArgs` is a JSON string, as in version 1.0 of the CLI. */
function toolInput({ fields, toolName, redact }: DialectInputSource): JsonMap {
  return { toolName, toolArgs: jsonText(redact(fields.flat?.tool_input ?? {})) };
}

function shown(source: DialectInputSource): JsonMap {
  return { toolResult: { resultType: 'success', textResultForLlm: resultText(source) ?? '' } };
}

/**
 * Output rules of Copilot. Exit code 2 refuses a tool call, and is a warning at other events. Most other failures of a
 * `before_tool` hook also refuse the call.
 */
const RULES: OutputRules = {
  fields: {
    ...{ permissionDecision: ['allow', 'deny', 'ask'], permissionDecisionReason: 'text', decision: 'text' },
    ...{ reason: 'text', additionalContext: 'text', modifiedArgs: 'object', modifiedResult: 'object' },
  },
  parse,
  exitCode2: warningOf,
  refusal: refusalOf,
  effects: effectsOf,
  failure: ({ kind }, { hook }) =>
    hook.event !== 'before_tool' || OPEN_FAILURES.includes(kind) ? {} : { cancel: 'the hook failed' },
  read: ({ event }) => READ_FIELDS[event] ?? [],
};

const READ_FIELDS: Readonly<Partial<Record<HookEvent, readonly string[]>>> = {
  session_start: ['additionalContext'],
  before_tool: ['permissionDecision', 'permissionDecisionReason', 'modifiedArgs'],
  after_tool: ['modifiedResult', 'additionalContext'],
  after_agent: ['decision', 'reason'],
};

/**
 * Reads the result of a hook. Copilot ignores the output at `before_agent` and `session_end`, so it is not checked
 * there.
 */
function readCopilot(run: FinishedHook): HookReading {
  const reading = readOutput(run, RULES);
  if (READ_FIELDS[run.hook.event] !== undefined) return reading;
  return { ...reading, ignored: unreadFields(outputOf(run).output ?? {}, []) };
}

/** Failures of a `before_tool` hook that do not refuse the call. */
const OPEN_FAILURES: readonly HookProblemKind[] = ['timed-out', 'aborted', 'malformed'];

function parse(run: FinishedHook): ParsedOutput {
  return READ_FIELDS[run.hook.event] === undefined ? {} : outputOf(run);
}

/** Parses the output. Lines that only report progress are left out. */
function outputOf({ result: { stdout } }: FinishedHook): ParsedOutput {
  const isProgress = (line: string) => line.includes('"progress"') && parseOutput(line).output?.type === 'progress';
  const lines = stdout.split('\n').filter((line) => !isProgress(line));
  return parseOutput(lines.join('\n'));
}

function warningOf(run: FinishedHook, reason: string): HookEffects {
  const { hook, result } = run;
  const { output } = parse(run);
  if (hook.event === 'before_tool') return { cancel: reason, ...(output && refusalOf(output, run)) };
  const text = textOf(result.stdout.trim());
  if (hook.dialectEvent === 'postToolUseFailure' && text !== undefined) return { modelTexts: [text] };
  return reason === NO_REASON ? {} : { userText: reason };
}

/** Returns the refusal in an output. `allow` has no effect, because it must not override a refusal. */
function refusalOf({ permissionDecision, decision, ...output }: JsonObject, { hook }: FinishedHook): HookEffects {
  if (hook.event === 'after_agent') return decision === 'block' ? { again: textOf(output.reason) ?? NO_REASON } : {};
  if (hook.event !== 'before_tool') return {};
  const reason = textOf(output.permissionDecisionReason) ?? NO_REASON;
  if (permissionDecision === 'deny') return { cancel: reason };
  return permissionDecision === 'ask' ? { ask: reason } : {};
}

function effectsOf(output: JsonObject, { hook: { event } }: FinishedHook, no: HookEffects): HookEffects {
  const { modifiedArgs, modifiedResult } = output;
  if (event === 'before_tool') return { ...(isObject(modifiedArgs) && { input: modifiedArgs as JsonObject }), ...no };
  const context = event === 'after_agent' ? undefined : textOf(output.additionalContext);
  return {
    ...(event === 'after_tool' && isObject(modifiedResult) && resultOf(modifiedResult as JsonObject)),
    ...(context !== undefined && { modelTexts: [context] }),
    ...no,
  };
}

function resultOf({ textResultForLlm: text, resultType }: JsonObject): HookEffects {
  if (typeof text !== 'string') return {};
  return { result: { content: text, ...(resultType === 'failure' && { isError: true }) } };
}
