import { isObject, isTexts, type JsonObject, type JsonValue } from '../../internal/json.js';
import { lossText, readJson, readJsonCut } from '../../internal/read-json.js';
import type { ShellHook } from '../hook/definition.js';
import { type FinishedHook, type HookEffects, type HookReading, NO_REASON, SILENT } from '../hook/effects.js';
import { isGateEvent } from '../hook/event.js';
import { type HookProblem, malformed, problemOf } from '../hook/problem.js';

/** The object that a hook wrote, and what is wrong with it. */
export interface ParsedOutput {
  /** Beside a problem: as far as it could be read, since a no in it stands. */
  readonly output?: JsonObject;
  readonly problem?: string;
}

/** Left out of every object in an output: merged into another object, they would reach a prototype. */
const DROPPED = ['constructor', 'prototype'];

/** Reads one JSON object, or nothing at all. */
export function parseOutput(stdout: string): ParsedOutput {
  const text = stdout.replace(/^\uFEFF/, '').trim();
  if (text === '') return {};
  const read = readJson(text, { drop: DROPPED });
  if ('problem' in read) {
    const seen = readJsonCut(text, DROPPED);
    if (isObject(seen)) return { output: seen as JsonObject, problem: read.problem };
    return { problem: `stdout must be JSON only, one object (${read.problem})` };
  }
  const { value, lost } = read;
  if (!isObject(value)) return { problem: `it is ${kindOf(value)}, not an object` };
  const repeated = lost.find(({ reason }) => reason === 'repeated');
  return { output: value as JsonObject, ...(repeated !== undefined && { problem: lossText(repeated) }) };
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** What a field of an output must be: of a type, one of some strings, or an object with such fields. Null counts as absent. */
type FieldRule = keyof typeof TYPES | readonly string[] | OutputFields;

/** The fields of an output. */
export interface OutputFields {
  readonly [key: string]: FieldRule;
}

const TYPES = {
  text: { expected: 'a string', accepts: (value: unknown) => typeof value === 'string' },
  texts: { expected: 'an array of strings', accepts: isTexts },
  object: { expected: 'an object', accepts: isObject },
  boolean: { expected: 'true or false', accepts: (value: unknown) => typeof value === 'boolean' },
};

/** What is wrong with the fields of an output. `continue` is true or false in each dialect, and never null. */
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

function mustBe(key: string, expected: string, value: JsonValue): string {
  return `\`${key}\` must be ${expected}, got ${JSON.stringify(value)}`;
}

/** Fields that other programs want, and that have no effect here whatever they hold. */
const HARMLESS: readonly string[] = ['suppressOutput', 'hookSpecificOutput.hookEventName'];

/** Returns the fields of an output that say something and are not among those that are read. */
export function unreadFields(output: JsonObject, read: readonly string[], prefix = ''): readonly string[] {
  return Object.entries(output).flatMap(([key, value]) => {
    const name = prefix + key;
    if (saysNothing(key, value) || read.includes(name) || HARMLESS.includes(name)) return [];
    const isOuter = isObject(value) && read.some((field) => field.startsWith(`${name}.`));
    return isOuter ? unreadFields(value as JsonObject, read, `${name}.`) : [name];
  });
}

/** True for a value that a hook may as well leave out. */
function saysNothing(key: string, value: JsonValue): boolean {
  return value === null || value === '' || value === (key === 'continue');
}

/** A string that is not blank. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A string stands as it is; data is shown to the model as JSON. */
export function resultOf(value: JsonValue): { content: string; structured?: JsonValue } {
  return typeof value === 'string' ? { content: value } : { content: JSON.stringify(value), structured: value };
}

/** The fields that Claude Code and Gemini CLI read at one event only. */
export function specificOf({ hookSpecificOutput }: JsonObject): JsonObject {
  return isObject(hookSpecificOutput) ? (hookSpecificOutput as JsonObject) : {};
}

/** How a program understands what its hooks print. */
export interface OutputRules {
  /** The effects of exit code 2, with the standard error as the reason. */
  readonly exitCode2: (run: FinishedHook, reason: string) => HookEffects;
  /** The refusal in an output. It stands whatever else is wrong. */
  readonly refusal: (output: JsonObject, run: FinishedHook) => HookEffects;
  /** Everything that an output wants; `no` is the refusal in it. */
  readonly effects: (output: JsonObject, run: FinishedHook, no: HookEffects) => HookEffects;
  readonly fields: OutputFields;
  /** Reads the output. Default: one JSON object on standard output. */
  readonly parse?: ((run: FinishedHook) => ParsedOutput) | undefined;
  /** The effects of text that is not JSON; undefined if it is a failure. Default: nobody reads it. */
  readonly text?: ((run: FinishedHook) => HookEffects | undefined) | undefined;
  /** The effects of a failure. Default: none. */
  readonly failure?: ((problem: HookProblem, run: FinishedHook) => HookEffects) | undefined;
  /** Returns the fields that are read at the hook's event. One of `hookSpecificOutput` has that name in front. */
  readonly read: (hook: ShellHook) => readonly string[];
}

/** Reads a hook of another program: the exit code first, then its output. A no stands whatever the exit code is. */
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

/** With a log in front of it, JSON is text that nobody reads; a refusal must not get lost so. */
function readText(run: FinishedHook, unread: string, rules: OutputRules): HookReading {
  const { stdout } = run.result;
  const last = parseOutput(stdout.slice(stdout.lastIndexOf('\n{') + 1)).output;
  const saysNo = last && isGateEvent(run.hook.event) && Object.keys(rules.refusal(last, run)).length > 0;
  const effects = saysNo ? undefined : (rules.text ?? (() => ({})))(run);
  if (effects !== undefined) return { ...SILENT, effects };
  const problem = saysNo ? 'it says no behind other text; stdout must be JSON only, one object' : unread;
  return readFailure({ run, failure: malformed(problem), no: {} }, rules);
}

interface FailedHook {
  readonly run: FinishedHook;
  readonly failure: HookProblem;
  readonly no: HookEffects;
}

/** A hook that said no and exits with an error did what it is for. */
function readFailure({ run, failure, no }: FailedHook, rules: OutputRules): HookReading {
  const saidNo = Object.keys(no).length > 0 && failure.kind === 'exit-code';
  const effects = { ...rules.failure?.(failure, run), ...no };
  return { ...SILENT, effects, problem: saidNo ? undefined : failure };
}
