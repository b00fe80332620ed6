import { isObject } from '../../internal/json.js';
import { textOf as messageText } from '../../model/message.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import {
  type FinishedHook,
  failed,
  failedWith,
  type HookEffects,
  type HookReading,
  NO_REASON,
  SILENT,
} from '../hook/effects.js';
import type { HookEvent } from '../hook/event.js';
import { type HookProblem, malformed, problemOf } from '../hook/problem.js';
import { jsonText } from '../run/plain-json.js';
import { type Dialect, type DialectEvent, type DialectInputSource, namedEvent } from './dialect.js';
import type { JsonObject } from './json-object.js';
import { type FieldKind, findBadField, lastObjectOf, NO_BEHIND_TEXT, parseOutput, textOf } from './output.js';
import {
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  type Place,
  parseEvents,
  problemOfType,
  TOOL_EVENTS,
} from './parse-events.js';

/** An event of Copilot, with the fields that it has beside the common ones. */
interface CopilotEvent extends DialectEvent {
  readonly input?: (source: DialectInputSource) => JsonMap;
}

/** By the GitHub Copilot hooks reference at docs.github.com, version 1 of the file, as of November 2026. */
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
    input: (source) => ({ ...toolInput(source), error: resultText(source) }),
  },
  agentStop: { event: 'after_agent', input: () => ({ transcriptPath: '', stopReason: 'end_turn' }) },
  sessionEnd: { event: 'session_end', input: () => ({ reason: 'complete' }) },
};

/** Hooks of GitHub Copilot: those of its CLI and of its cloud agent. */
export const copilot: Dialect = {
  id: 'copilot',
  events: EVENTS,
  places: { user: ['.copilot/hooks/*.json'], workspace: ['.github/hooks/*.json'] },
  folders: { project: [], extension: [] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasForeignTools: true,
  // A pattern has to match the whole name.
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

function readEntry(entry: JsonMap, { theirs }: Place, source: HookSource): HookSettings | string {
  const problem = problemOfType(entry);
  if (problem !== undefined) return problem;
  const { bash, command = bash, exec, args, cwd, env } = entry;
  const text = bash ?? command;
  if (text === undefined && exec === undefined) return 'it has no `bash`, `command` or `exec`';
  const seconds = entry.timeoutSec ?? entry.timeout;
  if (isObject(env) && Object.values(env).some((value) => String(value).includes('$'))) {
    const message = `A hook at ${theirs} has a \`$\` in its \`env\`, which is passed on as it is: nothing expands it.`;
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

/** The arguments are a string of JSON, as the CLI 1.0 sends them. */
function toolInput({ fields, toolName, redact }: DialectInputSource): JsonMap {
  return { toolName, toolArgs: jsonText(redact(fields.flat?.tool_input ?? {})) };
}

function shown(source: DialectInputSource): JsonMap {
  return { toolResult: { resultType: 'success', textResultForLlm: resultText(source) } };
}

function resultText({ fields: { result } }: DialectInputSource): string {
  const { content = '' } = result ?? {};
  return typeof content === 'string' ? content : messageText({ role: 'user', content });
}

const FIELDS: Readonly<Record<string, FieldKind>> = {
  ...{ permissionDecision: 'text', permissionDecisionReason: 'text', decision: 'text', reason: 'text' },
  ...{ additionalContext: 'text', modifiedArgs: 'object', modifiedResult: 'object' },
};
const DECISIONS: readonly unknown[] = ['allow', 'deny', 'ask', undefined, null];
/** The events whose output nobody reads. */
const UNREAD: readonly HookEvent[] = ['before_agent', 'session_end'];

/**
 * Reads a hook as Copilot does: exit code 2 refuses a tool and is a warning elsewhere; a hook before a tool that fails
 * in another way than by taking too long refuses it as well. Lines of progress are taken out of the output.
 */
function readCopilot(run: FinishedHook): HookReading {
  const { hook, result } = run;
  const stdout = withoutProgress(result.stdout);
  const { output, problem: unread } = result.stdoutTruncated ? {} : parseOutput(stdout);
  const no = output === undefined ? {} : refusalOf(output, hook.event);
  if (result.outcome === 'exited' && result.exitCode === 2) return readWarning(run, { stdout, no });
  const problem = problemOf(result);
  if (problem !== undefined) return readFailure(problem, hook.event, no);
  if (UNREAD.includes(hook.event)) return SILENT;
  if (output === undefined) {
    const last = unread === undefined ? undefined : lastObjectOf(stdout);
    const saysNo = last !== undefined && Object.keys(refusalOf(last, hook.event)).length > 0;
    return saysNo ? failed(malformed(NO_BEHIND_TEXT)) : SILENT;
  }
  const bad = unread ?? findBadOutput(output);
  if (bad !== undefined) return failedWith(no, malformed(bad));
  const ignored = isObject(output.hookSpecificOutput) ? ['hookSpecificOutput'] : [];
  return { output, data: {}, effects: { ...effectsOf(output, hook.event), ...no }, ignored };
}

interface Said {
  readonly stdout: string;
  readonly no: HookEffects;
}

function readWarning({ hook, result }: FinishedHook, { stdout, no }: Said): HookReading {
  const reason = textOf(result.stderr.trim());
  if (hook.event === 'before_tool') return { ...SILENT, effects: { cancel: reason ?? NO_REASON, ...no } };
  const text = textOf(stdout.trim());
  if (hook.dialectEvent === 'postToolUseFailure' && text !== undefined) {
    return { ...SILENT, effects: { modelTexts: [text] } };
  }
  return reason === undefined ? SILENT : { ...SILENT, effects: { userText: reason } };
}

function readFailure(problem: HookProblem, event: HookEvent, no: HookEffects): HookReading {
  const isOpen = event !== 'before_tool' || problem.kind === 'timed-out' || problem.kind === 'aborted';
  if (isOpen || no.cancel !== undefined) return failedWith(no, problem);
  return { ...failed(problem), effects: { cancel: 'the hook failed' } };
}

/** The output without the lines that only report progress. */
function withoutProgress(stdout: string): string {
  if (!stdout.includes('"progress"')) return stdout;
  const isProgress = (line: string) => parseOutput(line).output?.type === 'progress';
  return stdout
    .split('\n')
    .filter((line) => !isProgress(line))
    .join('\n');
}

function findBadOutput(output: JsonObject): string | undefined {
  const { permissionDecision } = output;
  return findBadField(output, FIELDS) ?? (DECISIONS.includes(permissionDecision) ? undefined : 'unknown decision');
}

/** The refusal in an output. `allow` has no effect: no hook takes back what something else refuses. */
function refusalOf(output: JsonObject, event: HookEvent): HookEffects {
  const { permissionDecision, decision } = output;
  if (event === 'after_agent') return decision === 'block' ? { again: textOf(output.reason) ?? NO_REASON } : {};
  if (event !== 'before_tool') return {};
  const reason = textOf(output.permissionDecisionReason) ?? NO_REASON;
  if (permissionDecision === 'deny') return { cancel: reason };
  return permissionDecision === 'ask' ? { ask: reason } : {};
}

/** The other effects of an output. */
function effectsOf(output: JsonObject, event: HookEvent): HookEffects {
  const { modifiedArgs, modifiedResult } = output;
  if (event === 'before_tool') return isObject(modifiedArgs) ? { input: modifiedArgs as JsonObject } : {};
  const context = event === 'after_agent' ? undefined : textOf(output.additionalContext);
  return {
    ...(event === 'after_tool' && isObject(modifiedResult) && resultOf(modifiedResult as JsonObject)),
    ...(context !== undefined && { modelTexts: [context] }),
  };
}

function resultOf({ textResultForLlm: text, resultType }: JsonObject): HookEffects {
  if (typeof text !== 'string') return {};
  return { result: { content: text, ...(resultType === 'failure' && { isError: true }) } };
}
