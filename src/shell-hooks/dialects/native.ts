import { isObject, type JsonValue } from '../../internal/json.js';
import { type FinishedHook, failed, type HookEffects, type HookReading, NO_REASON, SILENT } from '../hook/effects.js';
import type { HookEvent } from '../hook/event.js';
import { type HookProblem, malformed, problemOf } from '../hook/problem.js';
import type { JsonObject } from './json-object.js';
import { findBadField, type ParsedOutput, parseOutput, textOf } from './output.js';

/** The fields with a meaning; all others are data for later hooks. */
const FIELDS = {
  systemMessage: 'text',
  reason: 'text',
  updatedPrompt: 'text',
  updatedInput: 'object',
  updatedTools: 'texts',
} as const;
const RESERVED: readonly string[] = ['continue', 'data', 'updatedOutput', ...Object.keys(FIELDS)];

/** Reads a hook by the rules of this library: standard output counts, whatever the exit code. */
export function readNative({ hook, result }: FinishedHook): HookReading {
  const problem = problemOf(result);
  if (hook.exitCodes && result.exitCode === 2) {
    return { ...SILENT, effects: { cancel: textOf(result.stderr.trim()) ?? NO_REASON } };
  }
  const parsed = result.stdoutTruncated ? {} : parseOutput(result.stdout);
  if (problem !== undefined) return readFailed(parsed, problem);
  const { output } = parsed;
  const bad = parsed.problem ?? (output && findBadField(output, FIELDS));
  if (bad !== undefined) return readFailed(parsed, malformed(bad));
  if (output === undefined) return SILENT;
  return { output, data: dataOf(output), effects: effectsOf(output, hook.event), ignored: foreignWordsIn(output) };
}

/** A guard that was written for another program says no in words that are mere data here. */
function foreignWordsIn({ decision, hookSpecificOutput }: JsonObject): readonly string[] {
  const isDecision = ['deny', 'block', 'ask'].includes(textOf(decision) ?? '');
  return [...(isDecision ? ['decision'] : []), ...(isObject(hookSpecificOutput) ? ['hookSpecificOutput'] : [])];
}

/** Of a program that failed, or wrote something wrong, only a cancellation counts: a guard that has said no has said it. */
function readFailed({ output }: ParsedOutput, problem: HookProblem): HookReading {
  if (output?.continue !== false) return failed(problem);
  const reading = { output, data: dataOf(output), effects: cancellation(output) };
  return problem.kind === 'exit-code' ? reading : { ...reading, problem };
}

function cancellation(output: JsonObject): HookEffects {
  const texts = textOf(output.systemMessage);
  return {
    ...(output.continue === false && { cancel: textOf(output.reason) ?? NO_REASON }),
    ...(texts !== undefined && { modelTexts: [texts], userText: texts }),
  };
}

function effectsOf(output: JsonObject, event: HookEvent): HookEffects {
  const { updatedPrompt, updatedInput, updatedOutput, updatedTools } = output;
  return {
    ...cancellation(output),
    ...(event === 'before_agent' && typeof updatedPrompt === 'string' && { prompt: updatedPrompt }),
    ...(event === 'before_tool' && isObject(updatedInput) && { input: updatedInput as JsonObject }),
    ...(event === 'after_tool' && updatedOutput !== undefined && { result: resultOf(updatedOutput) }),
    ...(event === 'before_tool_selection' &&
      Array.isArray(updatedTools) && { tools: { names: updatedTools as string[], mode: 'auto', joins: false } }),
  };
}

/** A text stands as it is; data is shown to the model as JSON. */
export function resultOf(value: JsonValue): { content: string; structured?: JsonValue } {
  return typeof value === 'string' ? { content: value } : { content: JSON.stringify(value), structured: value };
}

function dataOf({ data = {}, ...output }: JsonObject): JsonObject {
  const others = Object.entries(output).filter(([key]) => !RESERVED.includes(key));
  return Object.fromEntries([...others, ...Object.entries(isObject(data) ? data : { data })]) as JsonObject;
}
