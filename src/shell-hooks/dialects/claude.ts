import { isObject, type JsonValue } from '../../internal/json.js';
import { portable } from '../files/portable-command.js';
import type { HookContent, HookSource } from '../files/source.js';
import {
  type FinishedHook,
  failed,
  failedWith,
  type HookEffects,
  type HookReading,
  NO_REASON,
  SILENT,
} from '../hook/effects.js';
import { type HookEvent, isGateEvent } from '../hook/event.js';
import { type HookProblem, malformed, problemOf } from '../hook/problem.js';
import type { Dialect } from './dialect.js';
import type { JsonObject } from './json-object.js';
import { findBadField, lastObjectOf, NO_BEHIND_TEXT, parseOutput, resultOf, textOf } from './output.js';
import {
  explainTimeout,
  type HookSettings,
  inMilliseconds,
  type JsonMap,
  parseEvents,
  problemOfType,
} from './parse-events.js';

/** Hooks of Claude Code 2.1, by its documentation as of November 2026. */
export const claude: Dialect = {
  id: 'claude',
  events: {
    SessionStart: { event: 'session_start' },
    UserPromptSubmit: { event: 'before_agent' },
    PreToolUse: { event: 'before_tool' },
    PostToolUse: { event: 'after_tool', after: 'success' },
    PostToolUseFailure: { event: 'after_tool', after: 'failure' },
    Stop: { event: 'after_agent' },
    SessionEnd: { event: 'session_end' },
  },
  places: {
    user: ['.claude/settings.json'],
    workspace: ['.claude/settings.json', '.claude/settings.local.json', '.claude/hooks.json'],
  },
  folders: { project: ['CLAUDE_PROJECT_DIR'], extension: ['CLAUDE_PLUGIN_ROOT'] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasForeignTools: true,
  matchesSessions: true,
  runsOnce: true,
  parse: (document, source) => parseClaude(document, source, 'CLAUDE_PLUGIN_DATA'),
  read: readClaude,
};

const OTHER_EVENTS = {
  notices: [
    ...['Setup', 'MessageDisplay', 'Notification', 'PermissionDenied', 'SubagentStart', 'InstructionsLoaded'],
    ...['CwdChanged', 'FileChanged', 'DirectoryAdded', 'WorktreeCreate', 'WorktreeRemove', 'ElicitationResult'],
    ...['StopFailure', 'PostCompact', 'Interrupt'],
  ],
  gates: [
    ...['PermissionRequest', 'UserPromptExpansion', 'SubagentStop', 'TaskCreated', 'TaskCompleted', 'TeammateIdle'],
    ...['ConfigChange', 'Elicitation', 'PostToolBatch', 'PreCompact'],
  ],
};

/** Reads a file of Claude Code's form. `dataVariable` names the folder of data that only plugins are given. */
export function parseClaude(document: JsonMap, source: HookSource, dataVariable: string): HookContent {
  const content = parseEvents(document, source, {
    events: claude.events,
    other: OTHER_EVENTS,
    isGrouped: true,
    matched: ['session_start', 'before_tool', 'after_tool', 'session_end'],
    read: (entry) => readEntry(entry, source, dataVariable),
  });
  explainTimeout(content, source);
  return content;
}

function readEntry(entry: JsonMap, source: HookSource, dataVariable: string): HookSettings | string {
  const problem = problemOfEntry(entry, source, dataVariable);
  if (problem !== undefined) return problem;
  const { command, args, timeout, onFailure } = entry;
  // A command without arguments is a text for bash.
  const isText = args === undefined;
  return {
    command: isText ? portable(command, 'claude') : command,
    shell: isText ? 'bash' : false,
    ...(!isText && { args }),
    ...(timeout !== undefined && { timeout: inMilliseconds(timeout) }),
    ...(onFailure !== undefined && { onFailure }),
  };
}

/** Why the entry of a hook cannot run, in a file of Claude Code's form; undefined if it can. */
export function problemOfEntry(entry: JsonMap, { hasData }: HookSource, dataVariable: string): string | undefined {
  const { args, shell } = entry;
  const type = problemOfType(entry);
  if (type !== undefined) return type;
  const unsupported = ['if', 'async', 'asyncRewake'].find((key) => entry[key] !== undefined && entry[key] !== false);
  if (unsupported !== undefined) return `\`${unsupported}\` is not supported`;
  if (args === undefined && shell !== undefined && shell !== 'bash') {
    return `\`shell: ${JSON.stringify(shell)}\` is not supported`;
  }
  // An unset variable is an empty string to a shell, and `rm -r "$CLAUDE_PLUGIN_DATA/cache"` another folder.
  const texts: unknown[] = [entry.command, ...(Array.isArray(args) ? args : [])];
  const needsData = texts.some((text) => typeof text === 'string' && text.includes(dataVariable));
  return needsData && !hasData ? `there is no \`${dataVariable}\`` : undefined;
}

const FIELDS = { decision: 'text', reason: 'text', stopReason: 'text', systemMessage: 'text' } as const;
const DECISIONS: readonly string[] = ['allow', 'deny', 'ask', 'defer', 'approve', 'block'];

/** A finished hook, and whether a refused result is replaced: with Codex nobody sees it, else the reason joins it. */
interface ClaudeRun extends FinishedHook {
  readonly replacesResult?: boolean | undefined;
}

/**
 * Reads a hook as Claude Code does: the exit code first, and standard output only with exit code 0. A no stands whatever
 * the exit code is.
 */
export function readClaude(run: ClaudeRun): HookReading {
  const { hook, result } = run;
  const { event } = hook;
  const problem = problemOf(result);
  if (result.outcome === 'exited' && result.exitCode === 2) {
    return { ...SILENT, effects: refusal(run, textOf(result.stderr.trim()) ?? NO_REASON) };
  }
  if (!result.stdout.trimStart().startsWith('{') || result.stdoutTruncated) {
    const unread = problem ?? problemOfText(run);
    return unread ? failed(unread) : { ...SILENT, effects: plainText(event, result.stdout) };
  }
  const { output, problem: unread } = parseOutput(result.stdout);
  if (output === undefined) return failed(problem ?? malformed(unread ?? 'it is empty'));
  const bad = unread ?? findBadOutput(output);
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  const no = refusalOf(output, run);
  if (failure !== undefined) return failedWith(no, failure);
  return { output, data: {}, effects: { ...no, ...effectsOf(output, event, no) } };
}

function findBadOutput(output: JsonObject): string | undefined {
  const specific = output.hookSpecificOutput ?? {};
  if (!isObject(specific)) return '`hookSpecificOutput` is no object';
  const unknown = decisionsOf(output).find((decision) => !DECISIONS.includes(decision));
  if (unknown !== undefined) return `"${unknown}" is no decision`;
  return (
    findBadField(output, FIELDS) ??
    findBadField(specific as JsonObject, {
      permissionDecision: 'text',
      permissionDecisionReason: 'text',
      additionalContext: 'text',
      updatedInput: 'object',
    })
  );
}

/** The effect of a refusal at each event. */
function refusal({ hook: { event }, replacesResult }: ClaudeRun, reason: string): HookEffects {
  if (event === 'before_tool' || event === 'before_agent') return { cancel: reason };
  if (event === 'after_agent') return { again: reason };
  if (event !== 'after_tool') return { userText: reason };
  return replacesResult ? { result: { content: reason } } : { modelTexts: [reason] };
}

function plainText(event: HookEvent, stdout: string): HookEffects {
  const text = textOf(stdout.trim());
  const isContext = event === 'session_start' || event === 'before_agent';
  return isContext && text !== undefined ? { modelTexts: [text] } : {};
}

/** With a log in front of it, JSON is plain text that nobody reads; a refusal may not get lost so. */
function problemOfText(run: ClaudeRun): HookProblem | undefined {
  const output = lastObjectOf(run.result.stdout);
  const saysNo = output !== undefined && isGateEvent(run.hook.event) && Object.keys(refusalOf(output, run)).length > 0;
  return saysNo ? malformed(NO_BEHIND_TEXT) : undefined;
}

function decisionsOf({ hookSpecificOutput, decision }: JsonObject): readonly string[] {
  const specific = isObject(hookSpecificOutput) ? (hookSpecificOutput as JsonObject) : {};
  return [textOf(specific.permissionDecision), textOf(decision)].filter((text) => text !== undefined);
}

/** What of it is a no. `allow` has no effect: no hook takes back what something else refuses, or itself. */
function refusalOf(output: JsonObject, run: ClaudeRun): HookEffects {
  const { event } = run.hook;
  const { permissionDecisionReason } = (output.hookSpecificOutput ?? {}) as JsonObject;
  const says = (...words: string[]) => decisionsOf(output).some((decision) => words.includes(decision));
  const reason = textOf(permissionDecisionReason) ?? textOf(output.reason) ?? NO_REASON;
  return {
    ...(says('deny', 'block') && refusal(run, reason)),
    ...(event === 'before_tool' && says('ask', 'defer') && { ask: reason }),
    ...(output.continue === false && event !== 'session_start' && { stop: textOf(output.stopReason) ?? NO_REASON }),
  };
}

/** What it wants beside a no. */
function effectsOf(output: JsonObject, event: HookEvent, no: HookEffects): HookEffects {
  const { additionalContext, updatedInput, ...specific } = (output.hookSpecificOutput ?? {}) as JsonObject;
  const context = textOf(additionalContext);
  // At the end, what the model is told has it go on.
  const again = event === 'after_agent' ? (no.again ?? context) : undefined;
  const modelTexts = [...(no.modelTexts ?? []), ...(context === undefined || context === again ? [] : [context])];
  const user = textOf(output.systemMessage);
  return {
    ...(again !== undefined && { again }),
    ...(event === 'before_tool' && isObject(updatedInput) && { input: updatedInput as JsonObject }),
    ...(event === 'after_tool' && no.result === undefined && outputEffects(specific)),
    ...(modelTexts.length > 0 && { modelTexts }),
    ...(user !== undefined && { userText: user }),
  };
}

function outputEffects({ updatedToolOutput, updatedMCPToolOutput }: JsonObject): HookEffects {
  const updated: JsonValue | undefined = updatedToolOutput ?? updatedMCPToolOutput;
  return updated === undefined || updated === null ? {} : { result: resultOf(updated) };
}
