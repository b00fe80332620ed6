import { isObject } from '../../internal/json.js';
import { readJson } from '../../internal/read-json.js';
import type { ProcessResult } from '../../process/run-process.js';
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
import { malformed, problemOf } from '../hook/problem.js';
import { textOfResponse } from './gemini-request.js';
import type { JsonObject } from './json-object.js';
import { findBadField, type ParsedOutput, parseOutput, textOf } from './output.js';

const FIELDS = { decision: 'text', reason: 'text', stopReason: 'text', systemMessage: 'text' } as const;
const UNSUPPORTED = ['tailToolCallRequest', 'clearContext'] as const;
/** Where `continue: false` has no meaning. */
const UNSTOPPABLE: readonly HookEvent[] = ['session_start', 'session_end', 'before_tool_selection'];

/**
 * Reads a hook as Gemini CLI does: exit code 2 blocks, and text that is no JSON is for the user. A no stands whatever the
 * exit code is.
 */
export function readGemini({ hook, result }: FinishedHook): HookReading {
  const { event } = hook;
  const problem = problemOf(result);
  if (result.outcome === 'exited' && result.exitCode === 2) {
    return { ...SILENT, effects: refusal(event, textOf(result.stderr.trim()) ?? NO_REASON) };
  }
  const { output, problem: unread } = parseTold(result);
  if (output === undefined && problem !== undefined) return failed(problem);
  if (output === undefined)
    return unread === undefined ? SILENT : { ...SILENT, effects: { userText: result.stdout.trim() } };
  const specific = output.hookSpecificOutput ?? {};
  const bad = unread ?? (isObject(specific) ? findBadField(output, FIELDS) : '`hookSpecificOutput` is no object');
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  const no = refusalOf(output, event);
  if (failure !== undefined) return failedWith(no, failure);
  const effects = { ...effectsOf(output, specific as JsonObject, event), ...no };
  const ignored = UNSUPPORTED.filter((field) => Boolean((specific as JsonObject)[field]));
  return { output, data: {}, effects, ignored };
}

/** Where nothing stands on standard output, an object on standard error counts; other text there is a log. */
function parseTold({ stdout, stderr, stdoutTruncated }: ProcessResult): ParsedOutput {
  if (stdoutTruncated) return {};
  const told = parseOutput(unquoted(stdout));
  if (stdout.trim() !== '') return told;
  const { problem: _log, ...noted } = parseOutput(stderr);
  return noted;
}

/** JSON that was written as a text of JSON. */
function unquoted(text: string): string {
  if (!text.trimStart().startsWith('"')) return text;
  const read = readJson(text);
  return 'value' in read ? String(read.value) : text;
}

function refusal(event: HookEvent, reason: string): HookEffects {
  if (event === 'after_agent') return { again: reason };
  if (event === 'after_tool') return { result: { content: reason, isError: true } };
  if (event.startsWith('session_') || event === 'before_tool_selection') return { userText: reason };
  return { cancel: reason };
}

/** What of it is a no. */
function refusalOf(output: JsonObject, event: HookEvent): HookEffects {
  const decision = textOf(output.decision);
  const reason = textOf(output.reason) ?? NO_REASON;
  const stops = output.continue === false && !UNSTOPPABLE.includes(event);
  return {
    ...((decision === 'deny' || decision === 'block') && refusal(event, reason)),
    ...(decision === 'ask' && event === 'before_tool' && { ask: reason }),
    ...(stops && { stop: textOf(output.stopReason) ?? reason }),
  };
}

/** What it wants beside a no. */
function effectsOf(output: JsonObject, specific: JsonObject, event: HookEvent): HookEffects {
  const context = textOf(specific.additionalContext);
  const user = textOf(output.systemMessage);
  return {
    ...specificEffects(specific, event),
    ...(context !== undefined && { modelTexts: [context] }),
    ...(user !== undefined && { userText: user }),
  };
}

function specificEffects(specific: JsonObject, event: HookEvent): HookEffects {
  const { tool_input: input, tool_output: output, llm_request: request, llm_response: response, toolConfig } = specific;
  if (event === 'before_tool') return isObject(input) ? { inputChanges: input as JsonObject } : {};
  if (event === 'after_tool') return typeof output === 'string' ? { result: { content: output } } : {};
  if (event === 'before_tool_selection') return isObject(toolConfig) ? limitOf(toolConfig as JsonObject) : {};
  if (event !== 'before_model' && event !== 'after_model') return {};
  const text = isObject(response) ? textOfResponse(response as JsonObject) : undefined;
  return {
    ...(text !== undefined && { response: text }),
    ...(event === 'before_model' && isObject(request) && { geminiRequest: request as JsonObject }),
  };
}

const MODES: Readonly<Record<string, 'none' | 'any' | 'auto'>> = { NONE: 'none', ANY: 'any', AUTO: 'auto' };

function limitOf({ mode, allowedFunctionNames: names }: JsonObject): HookEffects {
  const known = MODES[textOf(mode)?.toUpperCase() ?? 'AUTO'] ?? 'auto';
  const listed = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  return { tools: { names: listed.length > 0 ? listed : undefined, mode: known, joins: true } };
}
