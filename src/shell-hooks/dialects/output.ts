import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { memberProblems, type OptionRule } from '../../internal/options/validate.js';
import { lossText, readJson } from '../../internal/read-json.js';
import type { ProcessResult } from '../../process/run-process.js';
import { type FinishedHook, type HookProblem, NO_REASON } from '../hook/effects.js';
import { shortText } from '../hook/text.js';

/** The JSON object that a hook wrote, the problem with it, or both. */
export interface ParsedOutput {
  /**
   * The parsed object. It is set together with `problem` only if a key is repeated: a refusal in the object then still
   * counts.
   */
  readonly output?: JsonObject;
  readonly problem?: string | undefined;
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
  if ('problem' in read) return { problem: `stdout must be one JSON object and nothing else (${read.problem})` };
  // Gemini CLI also reads JSON that is written as a JSON string.
  if (typeof read.value === 'string') return parseOutput(read.value, redact);
  if (!isObject(read.value)) return { problem: `stdout must be one JSON object, got ${kindOf(read.value)}` };
  const repeated = read.lost.find(({ reason }) => reason === 'repeated');
  return { output: redacted(read.value as JsonObject, redact), problem: repeated && lossText(repeated) };
}

/** Returns an output without the marks of an encoding. Text in UTF-16 has a zero in each character of ASCII. */
function plainText(output: string): string {
  const text = output.includes('\0') ? output.replace(/^\uFFFD+|\0/g, '') : output;
  return text.replace(/^\uFEFF/, '').trim();
}

/** The reason of a refusal that was not read as JSON. */
export const UNREADABLE_REFUSAL = 'its output contains a refusal, but is not one JSON object';

/** A field of an answer and the values that refuse. */
export interface RefusingField {
  readonly name: string;
  readonly values: readonly string[];
}

/**
 * True if text that is not one JSON object contains a refusal: a name, a colon and a value, with only punctuation and
 * white space between them. A guard in doubt refuses.
 */
export function spellsRefusal(stdout: string, fields: readonly RefusingField[]): boolean {
  const text = plainText(stdout);
  return fields.some(({ name, values }) =>
    new RegExp(`\\b${name}[^\\w:=]*[:=]\\W*\\b(?:${values.join('|')})\\b`, 'i').test(text),
  );
}

const TOO_MUCH_OUTPUT: HookProblem = {
  kind: 'output-limit',
  message: 'It wrote too much output to read all of it',
  hint: 'Write only one JSON object to stdout.',
};

/** Returns the problem of a finished program; undefined if it exited with code 0 and its output is complete. */
export function failureOf(result: ProcessResult): HookProblem | undefined {
  const { outcome, exitCode, signal, failure, stderr, stdoutTruncated } = result;
  if (outcome === 'aborted') return { kind: 'aborted', message: 'It was terminated because the operation was aborted' };
  if (stdoutTruncated) return TOO_MUCH_OUTPUT;
  if (outcome === 'spawn-failed') {
    return { kind: 'not-started', message: failure?.message ?? 'It could not be started', ...failure };
  }
  if (outcome === 'timed-out') return { kind: 'timed-out', message: 'It exceeded its time limit and was terminated' };
  if (outcome === 'signaled') return { kind: 'signaled', message: `It was terminated by ${signal}${endOf(stderr)}` };
  return exitCode === 0 ? undefined : { kind: 'exit-code', message: `It exited with code ${exitCode}${endOf(stderr)}` };
}

const SHOWN = 500;

function endOf(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `: ${text.length > SHOWN ? `…${text.slice(-SHOWN)}` : text}`;
}

export function malformed(problem: string): HookProblem {
  return { kind: 'malformed', message: `Its output is invalid: ${problem}` };
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

/** Returns the message for a field with an invalid value; undefined if the rule accepts the value. */
export function problemOfField(name: string, value: JsonValue | undefined, rule: OptionRule): string | undefined {
  return memberProblems({ [name]: value }, { [name]: rule })[0];
}

/** Fields that other programs read and Keelson ignores. No diagnostic is reported for them. */
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
  const { output } = parseOutput(stdout, redact);
  const reason = output === undefined ? textOf(stdout.trim()) : reasonIn(output);
  return shortText(textOf(stderr.trim()) ?? reason ?? NO_REASON);
}

/** Returns a tool result. A string becomes the content unchanged; any other value is shown to the model as JSON. */
export function resultOf(value: JsonValue): { content: string; structured?: JsonValue } {
  return typeof value === 'string' ? { content: value } : { content: JSON.stringify(value), structured: value };
}

/** Returns `hookSpecificOutput`, which contains the event-specific fields of Claude Code and Gemini CLI. */
export function specificOf({ hookSpecificOutput }: JsonObject): JsonObject {
  return isObject(hookSpecificOutput) ? (hookSpecificOutput as JsonObject) : {};
}
