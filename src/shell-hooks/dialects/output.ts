import { isObject, isTexts, type JsonObject, type JsonValue } from '../../internal/json.js';
import { lossText, readJson, readJsonCut } from '../../internal/read-json.js';
import { safeText } from '../../internal/safe-text.js';
import { isEntryEvent } from '../../programs/hook-event.js';
import { type FinishedHook, NO_REASON } from '../hook/effects.js';
import { type HookProblem, problemOf, TOO_MUCH_OUTPUT } from '../hook/problem.js';
import { shortText } from '../run/text.js';
import { createBudget, findObjects } from './found-objects.js';

/** The JSON object that a hook wrote, the problem with it, or both. */
export interface ParsedOutput {
  /** Together with a problem: the readable part of the output. A refusal in it still counts. */
  readonly output?: JsonObject;
  readonly problem?: string | undefined;
  /** Objects beside other text. Only a refusal in them counts. */
  readonly found?: readonly JsonObject[];
  /** True if the output has too many parts to find all objects in it. */
  readonly isUnfinished?: boolean;
}

/** Keys that are removed from every object in an output. Merging them into another object could change a prototype. */
const DROPPED = ['constructor', 'prototype'];

/**
 * Parses one JSON object. Returns an empty result if the output is empty. `redact` removes secrets from the parsed
 * strings, because JSON can escape any character of a secret.
 */
export function parseOutput(stdout: string, redact = (text: string) => text): ParsedOutput {
  const text = plainText(stdout);
  if (text === '') return {};
  const read = readJson(text, { drop: DROPPED });
  // Some hooks write their JSON as a JSON string.
  if ('value' in read && typeof read.value === 'string') return parseOutput(read.value, redact);
  if ('value' in read && isObject(read.value)) {
    const repeated = read.lost.find(({ reason }) => reason === 'repeated');
    const output = redacted(read.value as JsonObject, redact);
    return { output, problem: repeated && lossText(repeated) };
  }
  const seen = 'problem' in read ? objectIn(text, redact) : undefined;
  if ('problem' in read && seen !== undefined) return { output: seen, problem: read.problem };
  const problem =
    'problem' in read
      ? `stdout must be one JSON object and nothing else (${read.problem})`
      : `stdout must be one JSON object, got ${kindOf(read.value)}`;
  const budget = createBudget();
  const found = findObjects(text, (json) => objectIn(json, redact), budget);
  return { problem, found, isUnfinished: budget.tokens <= 0 };
}

/** Returns an output without the marks of an encoding. Text in UTF-16 has a zero in each character of ASCII. */
function plainText(output: string): string {
  const text = output.includes('\0') ? output.replace(/^\uFFFD+|\0/g, '') : output;
  return text.replace(/^\uFEFF/, '').trim();
}

/** The output of a finished hook, and the problem of its program. */
export interface ParsedRun extends ParsedOutput {
  /** The objects that may refuse: the output, or all objects in it, and the objects at the end of a cut output. */
  readonly objects: readonly JsonObject[];
  readonly failure: HookProblem | undefined;
}

/** Parses the output of a finished hook. `text` replaces standard output. */
export function parseRun({ hook, result, redact }: FinishedHook, text = result.stdout): ParsedRun {
  const parsed = parseOutput(text, redact);
  const { output, found = [], isUnfinished } = parsed;
  const last = findObjects(result.stdoutEnd, (json) => objectIn(json, redact));
  const objects = [...(output === undefined ? found : [output]), ...last];
  const failure = isUnfinished && isEntryEvent(hook.event) ? TOO_MUCH_OUTPUT : problemOf(result);
  return { ...parsed, objects, failure };
}

function objectIn(text: string, redact: (text: string) => string): JsonObject | undefined {
  const read = readJson(text, { drop: DROPPED, comments: true });
  const value = readJsonCut(text, DROPPED) ?? ('value' in read ? read.value : undefined);
  return isObject(value) ? redacted(value as JsonObject, redact) : undefined;
}

function redacted<Value extends JsonValue>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => redacted(item, redact)) as unknown as Value;
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).map(([key, inner]) => [redact(key), redacted(inner, redact)]);
  return Object.fromEntries(members) as Value;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/**
 * Rule for an output field: a type, a list of allowed strings, or rules for the fields of an object. Null counts as
 * absent.
 */
type FieldRule = keyof typeof TYPES | readonly string[] | OutputFields;

/** Rules for the fields of an output, by name. */
export interface OutputFields {
  readonly [key: string]: FieldRule;
}

const TYPES = {
  text: { expected: 'a string', accepts: (value: unknown) => typeof value === 'string' },
  texts: { expected: 'an array of strings', accepts: isTexts },
  object: { expected: 'an object', accepts: isObject },
  boolean: { expected: 'true or false', accepts: (value: unknown) => typeof value === 'boolean' },
};

/**
 * Returns the first problem of the output fields. `continue` must be a boolean in every dialect, and cannot be null.
 */
export function findBadField(output: JsonObject, fields: OutputFields): string | undefined {
  if (output.continue === null) return problemOfField('continue', null, 'boolean');
  for (const [key, rule] of Object.entries<FieldRule>({ continue: 'boolean', ...fields })) {
    const value = output[key] ?? undefined;
    const problem = value === undefined ? undefined : problemOfField(key, value, rule);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfField(key: string, value: JsonValue, rule: FieldRule): string | undefined {
  if (typeof rule === 'string')
    return TYPES[rule].accepts(value) ? undefined : mustBe(key, TYPES[rule].expected, value);
  if (!isTexts(rule))
    return isObject(value) ? findBadField(value as JsonObject, rule) : mustBe(key, 'an object', value);
  return rule.includes(value as string) ? undefined : mustBe(key, `one of ${rule.join(', ')}`, value);
}

/** Maximum length of an invalid value in a message, in characters. */
const MOST_SHOWN = 200;

/** Returns the message for a field with an invalid value. */
export function mustBe(key: string, expected: string, value: JsonValue): string {
  return `\`${key}\` must be ${expected}, got ${safeText(JSON.stringify(value), { maxLength: MOST_SHOWN })}`;
}

/** Fields that other programs expect and that never have an effect here. No diagnostic is reported for them. */
const HARMLESS: readonly string[] = ['suppressOutput', 'hookSpecificOutput.hookEventName'];

/**
 * Returns the names of output fields that contain a value but have no effect. `read` lists the fields that have an
 * effect.
 */
export function unreadFields(output: JsonObject, read: readonly string[], prefix = ''): readonly string[] {
  return Object.entries(output).flatMap(([key, value]) => {
    const name = prefix + key;
    if (isWithoutMeaning(key, value) || read.includes(name) || HARMLESS.includes(name)) return [];
    const isOuter = isObject(value) && read.some((field) => field.startsWith(`${name}.`));
    return isOuter ? unreadFields(value as JsonObject, read, `${name}.`) : [name];
  });
}

/** Returns true for a value that means the same as an absent field. */
function isWithoutMeaning(key: string, value: JsonValue): boolean {
  return value === null || value === '' || value === (key === 'continue');
}

/** Returns the value if it is a string that is not blank. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Fields in which the programs write the reason of a refusal. */
export const REASONS: readonly string[] = [
  'permissionDecisionReason',
  'reason',
  'stopReason',
  'agent_message',
  'agentMessage',
  'user_message',
  'userMessage',
  'systemMessage',
];

/** Returns the reason of a refusal from any field that has one. The fields in `first` count before the others. */
export function reasonOf(output: JsonObject, ...first: readonly string[]): string {
  return reasonIn(output, first) ?? NO_REASON;
}

function reasonIn(output: JsonObject, first: readonly string[] = []): string | undefined {
  const specific = specificOf(output);
  const texts = [...first, ...REASONS].map((name) => textOf(output[name]) ?? textOf(specific[name]));
  const reason = texts.find((text) => text !== undefined);
  return reason && shortText(reason);
}

/** Returns the reason of exit code 2: standard error, or else a reason or any text on standard output. */
export function reasonOfExit({ result: { stdout, stderr }, redact }: FinishedHook): string {
  const { output, found = [] } = parseOutput(stdout, redact);
  const objects = output === undefined ? found : [output];
  const reason = objects.map((object) => reasonIn(object)).find((found) => found !== undefined);
  const text = objects.length > 0 ? undefined : textOf(stdout.trim());
  return shortText(textOf(stderr.trim()) ?? reason ?? text ?? NO_REASON);
}

/** Returns a tool result. A string becomes the content unchanged; any other value is shown to the model as JSON. */
export function resultOf(value: JsonValue): { content: string; structured?: JsonValue } {
  return typeof value === 'string' ? { content: value } : { content: JSON.stringify(value), structured: value };
}

/** Returns `hookSpecificOutput`, which contains the event-specific fields of Claude Code and Gemini CLI. */
export function specificOf({ hookSpecificOutput }: JsonObject): JsonObject {
  return isObject(hookSpecificOutput) ? (hookSpecificOutput as JsonObject) : {};
}
