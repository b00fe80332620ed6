import { isObject, type JsonValue } from '../../internal/json.js';
import type { ShellHook } from '../hook/definition.js';
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
import type { JsonObject } from './json-object.js';
import { resultOf } from './native.js';
import { findBadField, parseOutput, textOf } from './output.js';

const FIELDS = { decision: 'text', reason: 'text', stopReason: 'text', systemMessage: 'text' } as const;
const DECISIONS: readonly string[] = ['allow', 'deny', 'ask', 'defer', 'approve', 'block'];

/**
 * Reads a hook as Claude Code does: the exit code first, and standard output only with exit code 0. A no stands whatever
 * the exit code is.
 */
export function readClaude({ hook, result }: FinishedHook): HookReading {
  const { event } = hook;
  const problem = problemOf(result);
  if (result.outcome === 'exited' && result.exitCode === 2) {
    return { ...SILENT, effects: refusal(hook, textOf(result.stderr.trim()) ?? NO_REASON) };
  }
  if (!result.stdout.trimStart().startsWith('{') || result.stdoutTruncated) {
    const unread = problem ?? problemOfText(result.stdout, hook);
    return unread ? failed(unread) : { ...SILENT, effects: plainText(event, result.stdout) };
  }
  const { output, problem: unread } = parseOutput(result.stdout);
  if (output === undefined) return failed(problem ?? malformed(unread ?? 'it is empty'));
  const bad = unread ?? findBadOutput(output);
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  const no = refusalOf(output, hook);
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

/** What it means at each event that a hook says no. With Codex nobody sees the result that it is said of. */
function refusal({ event, dialect }: ShellHook, reason: string): HookEffects {
  if (event === 'before_tool' || event === 'before_agent') return { cancel: reason };
  if (event === 'after_agent') return { again: reason };
  if (event !== 'after_tool') return { userText: reason };
  return dialect === 'codex' ? { result: { content: reason } } : { modelTexts: [reason] };
}

function plainText(event: HookEvent, stdout: string): HookEffects {
  const text = textOf(stdout.trim());
  const isContext = event === 'session_start' || event === 'before_agent';
  return isContext && text !== undefined ? { modelTexts: [text] } : {};
}

/** A log in front of it is enough for JSON to be a text, which nobody reads: not where it is a no. */
function problemOfText(stdout: string, hook: ShellHook): HookProblem | undefined {
  const { output } = parseOutput(stdout.slice(stdout.lastIndexOf('\n{') + 1));
  const saysNo = output !== undefined && isGateEvent(hook.event) && Object.keys(refusalOf(output, hook)).length > 0;
  return saysNo ? malformed('it says no behind other text; stdout must be JSON only, one object') : undefined;
}

function decisionsOf({ hookSpecificOutput, decision }: JsonObject): readonly string[] {
  const specific = isObject(hookSpecificOutput) ? (hookSpecificOutput as JsonObject) : {};
  return [textOf(specific.permissionDecision), textOf(decision)].filter((text) => text !== undefined);
}

/** What of it is a no. `allow` has no effect: no hook takes back what something else refuses, or itself. */
function refusalOf(output: JsonObject, hook: ShellHook): HookEffects {
  const { event } = hook;
  const { permissionDecisionReason } = (output.hookSpecificOutput ?? {}) as JsonObject;
  const says = (...words: string[]) => decisionsOf(output).some((decision) => words.includes(decision));
  const reason = textOf(permissionDecisionReason) ?? textOf(output.reason) ?? NO_REASON;
  return {
    ...(says('deny', 'block') && refusal(hook, reason)),
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
