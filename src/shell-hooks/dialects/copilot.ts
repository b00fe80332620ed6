import { isObject, type JsonObject } from '../../internal/json.js';
import type { HookEvent } from '../../programs/hook-event.js';
import type { ToolResult } from '../../tools/tool.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import { type FinishedHook, type HookEffects, type HookReading, NO_REASON } from '../hook/effects.js';
import type { HookProblemKind } from '../hook/problem.js';
import { CAMEL_CASE, copilotInput, PASCAL_CASE } from './copilot-events.js';
import { type Dialect, namedEvent } from './dialect.js';
import { type OutputRules, parseOutput, readOutput, reasonOf, specificOf, textOf, unreadFields } from './output.js';
import {
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  type Place,
  parseEvents,
  problemOfType,
  TOOL_EVENTS,
} from './parse-events.js';

const EVENTS: Dialect['events'] = { ...CAMEL_CASE, ...PASCAL_CASE };

/** Hooks of the GitHub Copilot CLI and of the Copilot cloud agent. */
export const copilot: Dialect = {
  id: 'copilot',
  events: EVENTS,
  places: { user: ['.copilot/hooks/*.json'], workspace: ['.github/hooks/*.json'] },
  folders: { project: [], extension: [] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasForeignTools: true,
  toolFields: {
    bash: ['command'],
    view: ['path'],
    create: ['path', 'file_text'],
    edit: ['path', 'old_str', 'new_str'],
  },
  matcher: matcherOf,
  parse: parseCopilot,
  input: copilotInput,
  read: readCopilot,
};

/** A regular expression must match the whole name. */
function matcherOf(given: string): string {
  if (given === '**') return '.*';
  return /^[\w|]+$/.test(given) ? given.replace(/\bTask\b/g, 'Agent') : `^(?:${given})$`;
}

function parseCopilot(document: JsonMap, source: HookSource): HookContent {
  return parseEvents(document, source, {
    events: EVENTS,
    other: {
      notices: [
        'errorOccurred',
        'notification',
        'preCompact',
        'subagentStart',
        'ErrorOccurred',
        'Notification',
        'PreCompact',
        'SubagentStart',
      ],
      gates: ['permissionRequest', 'subagentStop', 'userPromptTransformed', 'PermissionRequest', 'SubagentStop'],
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
    cwd,
    env,
    timeout: inMilliseconds(seconds),
  };
}

/**
 * Output rules of Copilot. Exit code 2 refuses a tool call, and is a warning at other events. Most other failures of a
 * `before_tool` hook also refuse the call.
 */
const RULES: OutputRules = {
  fields: {
    permissionDecision: ['allow', 'deny', 'ask'],
    permissionDecisionReason: 'text',
    decision: 'text',
    reason: 'text',
    additionalContext: 'text',
    modifiedArgs: 'object',
    modifiedResult: 'object',
    stopReason: 'text',
    systemMessage: 'text',
    hookSpecificOutput: {
      permissionDecision: ['allow', 'deny', 'ask'],
      permissionDecisionReason: 'text',
      updatedInput: 'object',
      additionalContext: 'text',
    },
  },
  textOf: outputText,
  exitCode2: warningOf,
  refusal: refusalOf,
  effects: effectsOf,
  failure: ({ kind }, { hook }) =>
    hook.event !== 'before_tool' || OPEN_FAILURES.includes(kind) ? {} : { cancel: 'the hook failed' },
  read: (hook) => [...(READ_FIELDS[hook.event] ?? []), ...vsCodeFields(hook)],
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
  const { output } = parseOutput(withoutProgress(run), run.redact);
  return output === undefined ? reading : { ...reading, output, ignored: unreadFields(output, []) };
}

/** Failures of a `before_tool` hook that do not refuse the call. */
const OPEN_FAILURES: readonly HookProblemKind[] = ['timed-out', 'aborted', 'malformed'];

/** Returns the output without lines that only report progress. Empty at an event at which Copilot ignores it. */
function outputText(run: FinishedHook): string {
  return READ_FIELDS[run.hook.event] === undefined ? '' : withoutProgress(run);
}

function withoutProgress({ result: { stdout } }: FinishedHook): string {
  const isProgress = (line: string) => line.includes('"progress"') && parseOutput(line).output?.type === 'progress';
  const lines = stdout.split('\n').filter((line) => !isProgress(line));
  return lines.join('\n');
}

function warningOf(run: FinishedHook, reason: string): HookEffects {
  const { hook, result } = run;
  if (hook.event === 'before_tool') {
    const { output } = parseOutput(outputText(run), run.redact);
    if (output === undefined) return { cancel: reason };
    const given = reasonOf(output);
    return { ...refusalOf(output, run), cancel: given === NO_REASON ? reason : given };
  }
  const text = textOf(result.stdout.trim());
  const isFailure = /^postToolUseFailure$/i.test(hook.dialectEvent ?? '');
  if (isFailure && text !== undefined) return { modelTexts: [text] };
  return textOf(result.stderr.trim()) === undefined ? {} : { userText: reason };
}

function isPascalCase(hook: ShellHook): boolean {
  return namedEvent(PASCAL_CASE, hook) !== undefined;
}

/** Returns the output fields of Visual Studio Code, which count only at events in PascalCase. */
function vsCodeFields(hook: ShellHook): readonly string[] {
  if (!isPascalCase(hook)) return [];
  const { event } = hook;
  const fields = ['continue', 'stopReason', 'systemMessage'];
  if (event !== 'after_agent') fields.push('hookSpecificOutput.additionalContext');
  if (event !== 'before_tool') return fields;
  const specific = ['permissionDecision', 'permissionDecisionReason', 'updatedInput'];
  return [...fields, ...specific.map((field) => `hookSpecificOutput.${field}`)];
}

/** Returns the refusal in an output. `allow` has no effect, because it must not override a refusal. */
function refusalOf(output: JsonObject, { hook }: FinishedHook): HookEffects {
  const isPascal = isPascalCase(hook);
  const { permissionDecision, decision } = isPascal ? { ...specificOf(output), ...output } : output;
  if (isPascal && output.continue === false) return { stop: reasonOf(output, 'stopReason') };
  if (hook.event === 'after_agent') return decision === 'block' ? { again: reasonOf(output, 'reason') } : {};
  if (hook.event !== 'before_tool') return {};
  if (permissionDecision === 'deny') return { cancel: reasonOf(output) };
  return permissionDecision === 'ask' ? { ask: reasonOf(output) } : {};
}

function effectsOf(output: JsonObject, { hook }: FinishedHook, refusal: HookEffects): HookEffects {
  const { event } = hook;
  const isPascal = isPascalCase(hook);
  const specific = isPascal ? specificOf(output) : {};
  const { modifiedArgs = specific.updatedInput, modifiedResult } = output;
  const common = event === 'before_tool' ? undefined : output.additionalContext;
  const context = event === 'after_agent' ? undefined : textOf(common ?? specific.additionalContext);
  return {
    input: event === 'before_tool' && isObject(modifiedArgs) ? (modifiedArgs as JsonObject) : undefined,
    result: event === 'after_tool' && isObject(modifiedResult) ? resultOf(modifiedResult as JsonObject) : undefined,
    modelTexts: context === undefined ? undefined : [context],
    userText: isPascal ? textOf(output.systemMessage) : undefined,
    ...refusal,
  };
}

function resultOf({ textResultForLlm: text, resultType }: JsonObject): ToolResult | undefined {
  if (typeof text !== 'string') return undefined;
  return resultType === 'failure' ? { content: text, isError: true } : { content: text };
}
