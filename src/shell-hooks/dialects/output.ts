import { isObject, isTexts, type JsonObject, type JsonValue } from '../../internal/json.js';
import { lossText, readJson, readJsonCut } from '../../internal/read-json.js';
import type { ShellHook } from '../hook/definition.js';
import { type FinishedHook, type HookEffects, type HookReading, NO_REASON, SILENT } from '../hook/effects.js';
import { isGateEvent } from '../hook/event.js';
import { type HookProblem, malformed, problemOf } from '../hook/problem.js';

/** The JSON object that a hook wrote, the problem with it, or both. */
export interface ParsedOutput {
  /** Together with a problem: the readable part of the output. A refusal in it still counts. */
  readonly output?: JsonObject;
  readonly problem?: string;
}

/** Keys that are removed from every object in an output. Merging them into another object could change a prototype. */
const DROPPED = ['constructor', 'prototype'];

/** Parses one JSON object. Returns an empty result if the output is empty. */
export function parseOutput(stdout: string): ParsedOutput {
  const text = stdout.replace(/^\uFEFF/, '').trim();
  if (text === '') return {};
  const read = readJson(text, { drop: DROPPED });
  if ('problem' in read) {
    const seen = readJsonCut(text, DROPPED);
    if (isObject(seen)) return { output: seen as JsonObject, problem: read.problem };
    return { problem: `stdout must be one JSON object and nothing else (${read.problem})` };
  }
  const { value, lost } = read;
  if (!isObject(value)) return { problem: `stdout must be one JSON object, got ${kindOf(value)}` };
  const repeated = lost.find(({ reason }) => reason === 'repeated');
  return { output: value as JsonObject, ...(repeated !== undefined && { problem: lossText(repeated) }) };
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

/** Returns the message for a field with an invalid value. */
export function mustBe(key: string, expected: string, value: JsonValue): string {
  return `\`${key}\` must be ${expected}, got ${JSON.stringify(value)}`;
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
    if (saysNothing(key, value) || read.includes(name) || HARMLESS.includes(name)) return [];
    const isOuter = isObject(value) && read.some((field) => field.startsWith(`${name}.`));
    return isOuter ? unreadFields(value as JsonObject, read, `${name}.`) : [name];
  });
}

/** Returns true for a value that means the same as an absent field. */
function saysNothing(key: string, value: JsonValue): boolean {
  return value === null || value === '' || value === (key === 'continue');
}

/** Returns the value if it is a string that is not blank. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
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
  /** Returns the effects of exit code 2. The reason is standard error. */
  readonly exitCode2: (run: FinishedHook, reason: string) => HookEffects;
  /** Returns the refusal in an output. The refusal counts even if the output has other problems. */
  readonly refusal: (output: JsonObject, run: FinishedHook) => HookEffects;
  /** Returns all effects of an output. `no` contains the effects of its refusal. */
  readonly effects: (output: JsonObject, run: FinishedHook, no: HookEffects) => HookEffects;
  readonly fields: OutputFields;
  /** Parses the output. Default: one JSON object on standard output. */
  readonly parse?: ((run: FinishedHook) => ParsedOutput) | undefined;
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
  const { result } = run;
  if (result.outcome === 'exited' && result.exitCode === 2) {
    return { ...SILENT, effects: rules.exitCode2(run, textOf(result.stderr.trim()) ?? NO_REASON) };
  }
  const { parse = ({ result: { stdout } }) => parseOutput(stdout) } = rules;
  const { output, problem: unread } = result.stdoutTruncated ? {} : parse(run);
  const no = output === undefined ? {} : rules.refusal(output, run);
  const problem = problemOf(result);
  if (output === undefined && problem === undefined && unread !== undefined) return readText(run, unread, rules);
  const bad = unread ?? (output && findBadField(output, rules.fields));
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  if (failure !== undefined) return readFailure({ run, failure, no }, rules);
  if (output === undefined) return SILENT;
  return {
    output,
    data: {},
    effects: rules.effects(output, run, no),
    ignored: unreadFields(output, rules.read(run.hook)),
  };
}

/**
 * Interprets output that is not valid JSON. A refusal after other output must not be lost, so the last JSON object is
 * searched for one.
 */
function readText(run: FinishedHook, unread: string, rules: OutputRules): HookReading {
  const { stdout } = run.result;
  const last = parseOutput(stdout.slice(stdout.lastIndexOf('\n{') + 1)).output;
  const saysNo = last && isGateEvent(run.hook.event) && Object.keys(rules.refusal(last, run)).length > 0;
  const effects = saysNo ? undefined : (rules.text ?? (() => ({})))(run);
  if (effects !== undefined) return { ...SILENT, effects };
  const problem = saysNo ? 'stdout must be one JSON object and nothing else, got a refusal after other text' : unread;
  return readFailure({ run, failure: malformed(problem), no: {} }, rules);
}

interface FailedHook {
  readonly run: FinishedHook;
  readonly failure: HookProblem;
  readonly no: HookEffects;
}

/** Returns the interpreted result of a failed hook. If the hook refused, its exit code is not reported as a problem. */
function readFailure({ run, failure, no }: FailedHook, rules: OutputRules): HookReading {
  const saidNo = Object.keys(no).length > 0 && failure.kind === 'exit-code';
  const effects = { ...rules.failure?.(failure, run), ...no };
  return { ...SILENT, effects, problem: saidNo ? undefined : failure };
}
