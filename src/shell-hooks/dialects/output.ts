import { isObject, isTexts, type JsonObject, type JsonValue } from '../../internal/json.js';
import { lossText, readJson, readJsonCut } from '../../internal/read-json.js';
import { safeText } from '../../internal/safe-text.js';
import { isEntryEvent, isGateEvent } from '../../programs/hook-event.js';
import type { ShellHook } from '../hook/definition.js';
import { type FinishedHook, type HookEffects, type HookReading, NO_REASON, SILENT } from '../hook/effects.js';
import { type HookProblem, malformed, problemOf, TOO_MUCH_OUTPUT } from '../hook/problem.js';
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
  const text = stdout.replace(/^\uFEFF/, '').trim();
  if (text === '') return {};
  const read = readJson(text, { drop: DROPPED });
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
  const value = readJsonCut(text, DROPPED);
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
const REASONS = [
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

/** Rules of a dialect for interpreting hook output. */
export interface OutputRules {
  /** Returns the effects of exit code 2. */
  readonly exitCode2: (run: FinishedHook, reason: string) => HookEffects;
  /** Returns the refusal in an output. The refusal counts even if the output has other problems. */
  readonly refusal: (output: JsonObject, run: FinishedHook) => HookEffects;
  /** Returns all effects of an output. `refusal` contains the effects of its refusal. */
  readonly effects: (output: JsonObject, run: FinishedHook, refusal: HookEffects) => HookEffects;
  readonly fields: OutputFields;
  /** Returns the text that must be one JSON object. Default: standard output. */
  readonly textOf?: ((run: FinishedHook) => string) | undefined;
  /** Returns the effects of output that is not JSON; undefined means failure. Default: no effects. */
  readonly text?: ((run: FinishedHook) => HookEffects | undefined) | undefined;
  /** Returns the effects of a failure. Default: no effects. */
  readonly failure?: ((problem: HookProblem, run: FinishedHook) => HookEffects) | undefined;
  /**
   * Returns the output fields that have an effect at the hook's event. Nested fields are written as
   * `hookSpecificOutput.name`.
   */
  readonly read: (hook: ShellHook) => readonly string[];
}

/**
 * Interprets the result of a hook of another program: first the exit code, then the output. A refusal counts with any
 * exit code.
 */
export function readOutput(run: FinishedHook, rules: OutputRules): HookReading {
  if (run.result.exitCode === 2) return { ...SILENT, effects: rules.exitCode2(run, reasonOfExit(run)) };
  const parsed = parseRun(run, rules.textOf?.(run));
  const { output, problem: unread, failure: problem } = parsed;
  const refusal = refusalIn(parsed, run, rules);
  const isRefused = Object.keys(refusal).length > 0;
  if (output === undefined && problem === undefined && unread !== undefined && !isRefused) {
    const effects = (rules.text ?? (() => ({})))(run);
    if (effects !== undefined) return { ...SILENT, effects };
  }
  const bad = unread ?? (output && findBadField(output, rules.fields));
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  if (failure !== undefined) {
    const effects = { ...rules.failure?.(failure, run), ...refusal };
    return isRefused ? readRefusal(effects, refusal, failure) : { ...SILENT, effects, problem: failure };
  }
  if (output === undefined) return SILENT;
  const read = [...rules.read(run.hook), ...(isRefused ? REASONS : [])];
  return { output, data: {}, effects: rules.effects(output, run, refusal), ignored: unreadFields(output, read) };
}

/**
 * Returns the refusals in an output, without undefined members. Objects beside other text are not judged at an event
 * that no hook guards.
 */
function refusalIn({ output, objects }: ParsedRun, run: FinishedHook, rules: OutputRules): HookEffects {
  const judged = isGateEvent(run.hook.event) ? objects : objects.filter((object) => object === output);
  // Reversed, so that the first refusal counts.
  const members = judged.flatMap((object) => Object.entries(rules.refusal(object, run))).reverse();
  return Object.fromEntries(members.filter(([, effect]) => effect !== undefined)) as HookEffects;
}

/** Returns the interpreted result of a hook that refused and failed. Its exit code is not reported as a problem. */
function readRefusal(effects: HookEffects, refusal: HookEffects, failure: HookProblem): HookReading {
  // A hook that only asks has not refused, so with `onFailure: 'block'` its failure cancels.
  const refused = Object.keys(refusal).some((key) => key !== 'ask' && key !== 'userText');
  return { ...SILENT, effects, refused, problem: failure.kind === 'exit-code' ? undefined : failure };
}
