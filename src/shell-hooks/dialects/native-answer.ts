import { describeError } from '../../errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { boolean, object, text, texts } from '../../internal/options/rules.js';
import type { OptionRule } from '../../internal/options/validate.js';
import { checkMessages } from '../../model/check-messages.js';
import type { AssistantPart, Message } from '../../model/message.js';
import { problemOfPart } from '../../model/whole-response.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import {
  type FinishedHook,
  failed,
  type HookEffects,
  type HookProblem,
  type HookReading,
  SILENT,
} from '../hook/effects.js';
import { jsonText } from '../hook/plain-json.js';
import {
  failureOf,
  malformed,
  parseOutput,
  problemOfField,
  reasonOf,
  reasonOfExit,
  resultOf,
  spellsRefusal,
  textOf,
  UNREADABLE_REFUSAL,
} from './output.js';

const FIELDS: Readonly<Record<string, OptionRule>> = {
  continue: boolean,
  systemMessage: text,
  reason: text,
  updatedPrompt: text,
  updatedInput: object,
  updatedTools: texts,
  updatedMessages: {
    expected: 'a non-empty array of messages, as in `data.messages`',
    accepts: (value) => Array.isArray(value) && value.length > 0,
  },
  updatedResponse: {
    expected: 'a string, or an array of parts as in `data.response.content`',
    accepts: (value) => typeof value === 'string' || Array.isArray(value),
  },
};
/** Events at which an output field rewrites the value. */
const UPDATES: Readonly<Record<string, readonly HookEvent[]>> = {
  updatedPrompt: ['before_agent'],
  updatedMessages: ['before_model'],
  updatedTools: ['before_tool_selection'],
  updatedResponse: ['before_model', 'after_model'],
  updatedInput: ['before_tool'],
  updatedOutput: ['after_tool'],
};
/** Output fields with a meaning. All other fields are data for later hooks. */
const RESERVED: readonly string[] = ['continue', 'data', 'reason', 'systemMessage', ...Object.keys(UPDATES)];
/** Names in snake_case, such as `updated_prompt`, that are accepted for the reserved fields. */
const SNAKE_CASE: ReadonlyMap<string, string> = new Map(
  RESERVED.filter((name) => /[A-Z]/.test(name)).map((name) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name,
  ]),
);

/**
 * Interprets the result of a hook in Keelson's own format. If the hook failed, only a cancellation in its output
 * counts.
 */
export function readNative(run: FinishedHook): HookReading {
  const { hook, result } = run;
  if (hook.exitCodes && result.exitCode === 2) return { ...SILENT, effects: { cancel: reasonOfExit(run) } };
  const { output, problem } = parseOutput(result.stdout, run.redact);
  const failure = failureOf(result);
  const fields = output && camelCased(output);
  const bad = problem ?? (fields && problemIn(fields));
  const failing = failure ?? (bad === undefined ? undefined : malformed(bad));
  if (failing !== undefined) return readFailed(output, run, failing);
  if (fields === undefined) return SILENT;
  return { output, data: dataOf(fields), effects: effectsOf(fields, run), ignored: ignoredIn(fields, hook.event) };
}

function camelCased(output: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [SNAKE_CASE.get(key) ?? key, value]));
}

/** Returns the first problem of the output fields. Null counts as absent, except in `continue`. */
function problemIn(fields: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(FIELDS, name) || (value === null && name !== 'continue')) continue;
    const problem = problemOfField(name, value, FIELDS[name] as OptionRule) ?? problemOfItems(name, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Returns the fields to report: updates at the wrong event, and fields that refuse a call in other programs but are
 * only data in native hooks.
 */
function ignoredIn(fields: JsonObject, event: HookEvent): readonly string[] {
  const { decision, hookSpecificOutput } = fields;
  const names = Object.keys(UPDATES).filter((name) => isPresent(fields[name]) && !UPDATES[name]?.includes(event));
  if (['deny', 'block', 'ask'].includes(textOf(decision) ?? '')) names.push('decision');
  return isObject(hookSpecificOutput) ? [...names, 'hookSpecificOutput'] : names;
}

/** The field and the value that cancel in text that is not one JSON object, such as `continue: false`. */
const SPELLED = [{ name: 'continue', values: ['false'] }];

/**
 * Returns the interpreted result of a failed hook. Only a cancellation in its output counts, because a guard that
 * refuses and then fails has still refused.
 */
function readFailed(output: JsonObject | undefined, { result }: FinishedHook, problem: HookProblem): HookReading {
  if (output === undefined) {
    const isRefused = spellsRefusal(result.stdout, SPELLED);
    return isRefused ? { ...SILENT, effects: { cancel: UNREADABLE_REFUSAL }, refused: true, problem } : failed(problem);
  }
  if (output.continue !== false) return failed(problem);
  const fields = camelCased(output);
  const reading = { output, data: dataOf(fields), effects: cancellation(fields), refused: true };
  return problem.kind === 'exit-code' ? reading : { ...reading, problem };
}

function cancellation(output: JsonObject): HookEffects {
  const text = textOf(output.systemMessage);
  return {
    cancel: output.continue === false ? reasonOf(output, 'reason') : undefined,
    modelTexts: text === undefined ? undefined : [text],
    userText: text,
  };
}

function effectsOf(output: JsonObject, run: FinishedHook): HookEffects {
  const { event } = run.hook;
  const { updatedPrompt, updatedInput, updatedOutput, updatedTools } = output;
  const effects = { ...cancellation(output), ...conversationEffects(output, run) };
  if (event === 'before_agent' && typeof updatedPrompt === 'string') return { ...effects, prompt: updatedPrompt };
  if (event === 'before_tool' && isObject(updatedInput)) return { ...effects, input: updatedInput as JsonObject };
  if (event === 'after_tool' && updatedOutput !== undefined) return { ...effects, result: resultOf(updatedOutput) };
  if (event === 'before_tool_selection' && Array.isArray(updatedTools)) {
    return { ...effects, tools: { names: updatedTools as string[], mode: 'auto', joins: false } };
  }
  return effects;
}

function dataOf({ data = {}, ...output }: JsonObject): JsonObject {
  const others = Object.entries(output).filter(([key]) => !RESERVED.includes(key));
  return Object.fromEntries([...others, ...Object.entries(isObject(data) ? data : { data })]) as JsonObject;
}

function problemOfItems(name: string, value: JsonValue): string | undefined {
  if (name === 'updatedMessages') return problemOfMessages(value);
  return name === 'updatedResponse' ? problemOfResponse(value) : undefined;
}

/**
 * Returns the effects of `updatedMessages` at `before_model`, and of `updatedResponse` at `before_model` and
 * `after_model`.
 */
function conversationEffects(
  { updatedMessages, updatedResponse }: JsonObject,
  { hook: { event }, shown }: FinishedHook,
): HookEffects {
  if (event !== 'before_model' && event !== 'after_model') return {};
  const messages = updatedMessages as unknown as readonly Message[];
  const changesRequest = event === 'before_model' && isPresent(updatedMessages);
  return {
    request: changesRequest ? { settings: {}, change: (before) => restored(before, messages, shown) } : undefined,
    response: isPresent(updatedResponse)
      ? (before) => restored(before, partsOf(updatedResponse, before), shown)
      : undefined,
  };
}

/**
 * Returns the items that a hook wrote. An item that the hook did not change becomes the original object again, so that
 * it keeps its images and its redacted fields. `shown` returns an item as the hook read it.
 */
function restored<Item>(
  before: readonly Item[],
  given: readonly Item[],
  shown: (value: unknown) => unknown,
): readonly Item[] {
  const left = before.map((item) => ({ item, text: comparable(shown(item)) }));
  return given.map((item) => {
    const text = comparable(item);
    const at = left.findIndex((other) => other.text === text);
    return left.splice(0, at + 1).at(-1)?.item ?? item;
  });
}

/** Returns the JSON of a value, independent of the order of its keys. */
function comparable(value: unknown): string {
  return canonicalJson(JSON.parse(jsonText(value)));
}

function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

/** Returns the new parts of a response. A string replaces the text parts and keeps all other parts. */
function partsOf(given: JsonValue, before: readonly AssistantPart[]): readonly AssistantPart[] {
  if (typeof given !== 'string') return given as unknown as readonly AssistantPart[];
  return [{ type: 'text', text: given }, ...before.filter(({ type }) => type !== 'text')];
}

function problemOfMessages(messages: JsonValue): string | undefined {
  try {
    const open = checkMessages(messages as unknown as readonly Message[])?.open ?? [];
    const ids = open.map(({ id }) => JSON.stringify(id));
    return open.length === 0
      ? undefined
      : `\`updatedMessages\` must contain a result for the tool call ${ids.join(', ')}`;
  } catch (error) {
    return `\`updatedMessages\` cannot be sent: ${describeError(error)}`;
  }
}

function problemOfResponse(response: JsonValue): string | undefined {
  const parts: readonly JsonValue[] = Array.isArray(response) ? response : [];
  const problems = parts.map((part) => problemOfPart(part as unknown as AssistantPart));
  const at = problems.findIndex((problem) => problem !== undefined);
  if (at >= 0) return `\`updatedResponse[${at}]\` is invalid: ${problems[at]}`;
  const ids = parts.flatMap((part) => (isObject(part) && part.type === 'tool-call' ? [part.id] : []));
  return new Set(ids).size === ids.length ? undefined : '`updatedResponse` has two tool calls with the same id';
}
