import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { anything, boolean, object, text } from '../../internal/options/rules.js';
import type { OptionRule } from '../../internal/options/validate.js';
import { isGateEvent } from '../../programs/hook-event.js';
import type { HookFacts } from '../../programs/hook-facts.js';
import {
  type AnswerTable,
  type FieldMeaning,
  type FieldTable,
  namedEvent,
  type Refusal,
} from '../../programs/hook-table.js';
import { loose } from '../../programs/loose.js';
import type { ToolResult } from '../../tools/tool.js';
import type { ShellHook } from '../hook/definition.js';
import { type FinishedHook, type HookEffects, type HookProblem, type HookReading, SILENT } from '../hook/effects.js';
import { requestChange, responseChange } from './gemini-conversation.js';
import {
  failureOf,
  malformed,
  parseOutput,
  problemOfField,
  REASONS,
  reasonOf,
  reasonOfExit,
  resultOf,
  specificOf,
  spellsRefusal,
  textOf,
  UNREADABLE_REFUSAL,
  unreadFields,
} from './output.js';

/**
 * Interprets the result of a hook of another program by the table of its answers: first the exit code, then the output.
 * A refusal counts with any exit code.
 */
export function readAnswer(run: FinishedHook, facts: HookFacts): HookReading {
  const { answer } = facts;
  const { hook, result } = run;
  const isNotification = namedEvent(facts.events, hook)?.notifies === true;
  if (result.exitCode === 2 && !isNotification) return { ...SILENT, effects: refusedByExit(run, answer) };
  const text = answerText(run, answer);
  const { output, problem: unread } = parseOutput(text, run.redact);
  const problem = failureOf(result);
  if (output === undefined && unread === undefined && problem === undefined) return SILENT;
  if (isNotification && problem !== undefined) return { ...SILENT, problem };
  const isIgnored = isNotification || listed(answer.ignoredAt, hook);
  if (isIgnored && problem === undefined) return { ...SILENT, output, ignored: output && unreadFields(output, []) };
  const rules = { hook, answer, fields: fieldsAt(hook, answer) };
  const refusal = output === undefined ? spelledRefusal(text, rules) : refusalIn(output, rules);
  const isRefused = Object.keys(refusal).length > 0;
  if (output === undefined && problem === undefined && !isRefused) {
    const effects = effectsOfText(run, answer);
    if (effects !== undefined) return { ...SILENT, effects };
  }
  const bad = unread ?? (output && ((isRefused ? undefined : missingField(output, rules)) ?? badField(output, rules)));
  const failure = problem ?? (bad === undefined ? undefined : malformed(bad));
  if (failure !== undefined) {
    const effects = { ...effectsOfFailure(failure, hook, facts), ...refusal };
    return isRefused ? readRefusal(effects, refusal, failure) : { ...SILENT, effects, problem: failure };
  }
  if (output === undefined) return SILENT;
  const read = [...rules.fields.map(([path]) => path), ...(isRefused ? REASONS : [])];
  return { output, data: {}, effects: allEffects(output, rules, refusal), ignored: unreadFields(output, read) };
}

/** The rules for the answers of a hook. */
interface AnswerRules {
  readonly hook: ShellHook;
  readonly answer: AnswerTable;
  /** The fields that have a meaning at the event of the hook. */
  readonly fields: readonly (readonly [path: string, field: FieldTable])[];
}

/**
 * Returns the text of the answer: standard output without progress lines, or standard error if the program reads it.
 */
function answerText({ result }: FinishedHook, { readsStderr, hasProgress, detaches }: AnswerTable): string {
  const { stdout, stderr } = result;
  if (readsStderr && stdout.trim() === '') return stderr;
  const [first = '', ...rest] = stdout.split('\n');
  if (detaches && parseOutput(first).output?.async === true) return rest.join('\n');
  if (!hasProgress) return stdout;
  const isNote = (line: string) => line.includes('"progress"') && parseOutput(line).output?.type === 'progress';
  return [first, ...rest].filter((line) => !isNote(line)).join('\n');
}

/**
 * Returns the value that a table has for the event of a hook. Tries the name of the event in the program, then its name
 * in Keelson, then `*`.
 */
function forEvent<Value>(record: Readonly<Record<string, Value>> = {}, { event, dialectEvent }: ShellHook) {
  const names = [dialectEvent, event, '*'].filter((name) => name !== undefined);
  const name = names.find((one) => Object.hasOwn(record, one));
  return name === undefined ? undefined : record[name];
}

function listed(names: readonly string[] | undefined, { event, dialectEvent = '' }: ShellHook): boolean {
  return names?.some((name) => name === event || name === dialectEvent) === true;
}

function fieldsAt(hook: ShellHook, { fields }: AnswerTable): AnswerRules['fields'] {
  return Object.entries(fields).flatMap(([path, given]) =>
    [given]
      .flat()
      .filter(({ at, notAt }: FieldTable) => (at === undefined || listed(at, hook)) && !listed(notAt, hook))
      .map((field) => [path, field as FieldTable] as const),
  );
}

function valueAt(output: JsonObject, path: string): JsonValue | undefined {
  return path
    .split('.')
    .reduce<JsonValue | undefined>((value, key) => (isObject(value) ? (value as JsonObject)[key] : undefined), output);
}

/** Returns a problem if the program requires a field at this event, and the answer lacks the field. */
function missingField(output: JsonObject, { hook, answer }: AnswerRules): string | undefined {
  const needed = forEvent(answer.needs, hook);
  const isMissing = needed !== undefined && (valueAt(output, needed) ?? undefined) === undefined;
  return isMissing ? `\`${needed}\` is missing` : undefined;
}

/** Returns the first problem of the fields that have a meaning. Null and an empty string count as absent. */
function badField(output: JsonObject, { fields }: AnswerRules): string | undefined {
  const problem =
    problemOfField('continue', output.continue, boolean) ??
    problemOfField('hookSpecificOutput', output.hookSpecificOutput ?? undefined, object);
  if (problem !== undefined) return problem;
  const problems = fields.map(([path, field]) => {
    return problemOfField(lastOf(path), valueAt(output, path) ?? undefined, ruleOf(field));
  });
  return problems.find((found) => found !== undefined);
}

function ruleOf({ type, words = {} }: FieldTable): OptionRule {
  if (type === 'text') return text;
  if (type === 'object') return object;
  if (type !== 'words') return anything;
  return {
    expected: `one of ${Object.keys(words).join(', ')}`,
    accepts: (value) => value === '' || Object.hasOwn(words, String(loose.word(value))),
  };
}

/**
 * Returns a refusal if the text is not one JSON object but contains a refusal. Returns no refusal at events at which
 * hooks are not guards.
 */
function spelledRefusal(text: string, { hook, answer, fields }: AnswerRules): HookEffects {
  if (!isGateEvent(hook.event)) return {};
  const named = fields.map(([path, field]) => ({ name: lastOf(path), values: refusingValues(field) }));
  const deciding = named.filter(({ values }) => values.length > 0);
  return spellsRefusal(text, deciding) ? effectsOfRefusal(refusalAt(hook, answer), UNREADABLE_REFUSAL) : {};
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function refusingValues({ means, words = {} }: FieldTable): readonly string[] {
  if (means === 'stop' || means === 'refuse') return ['false'];
  return means === 'decision'
    ? Object.keys(words).filter((word) => words[word] === 'refuse' || words[word] === 'ask')
    : [];
}

/** Returns the refusal in an output. `allow` has no effect, because it must not override a refusal. */
function refusalIn(output: JsonObject, rules: AnswerRules): HookEffects {
  const has = (means: FieldMeaning, fits: (value: JsonValue | undefined, field: FieldTable) => boolean) =>
    rules.fields.some(([path, field]) => field.means === means && fits(valueAt(output, path), field));
  const says = (verdict: string) =>
    has('decision', (value, { words }) => words?.[String(loose.word(value))] === verdict);
  const isFalse = (value: JsonValue | undefined) => value === false;
  const asks = rules.hook.event === 'before_tool' && says('ask');
  return {
    ...(says('refuse') || has('refuse', isFalse) ? refusedWith(output, rules) : {}),
    ...(asks ? { ask: reasonOf(output, 'user_message', 'userMessage') } : {}),
    ...(has('stop', isFalse) ? { stop: reasonOf(output, 'stopReason') } : {}),
  };
}

function refusedWith(output: JsonObject, { hook, answer, fields }: AnswerRules): HookEffects {
  const { decision } = specificOf(output);
  const nested = isObject(decision) ? textOf((decision as JsonObject).message) : undefined;
  const own = fields.filter(([path, { means }]) => means === 'reason' && !REASONS.includes(path)).map(([path]) => path);
  const effects = effectsOfRefusal(refusalAt(hook, answer), nested ?? reasonOf(output, ...own));
  const refusals = fields.filter(([, { means }]) => means === 'user-of-refusal');
  const userText = refusals.map(([path]) => textOf(valueAt(output, path))).find((text) => text !== undefined);
  return userText === undefined ? effects : { ...effects, userText };
}

function refusalAt(hook: ShellHook, { refusal }: AnswerTable): Refusal {
  return forEvent(refusal, hook) ?? refusal['*'];
}

function effectsOfRefusal(refusal: Refusal, reason: string): HookEffects {
  if (refusal === 'cancel') return { cancel: reason };
  if (refusal === 'again') return { again: reason };
  if (refusal === 'context') return { modelTexts: [reason] };
  if (refusal === 'user') return { userText: reason };
  if (refusal === 'none') return {};
  return { result: refusal === 'result' ? { content: reason } : { content: reason, isError: true } };
}

function refusedByExit(run: FinishedHook, answer: AnswerTable): HookEffects {
  const { hook, result } = run;
  const effect = forEvent(answer.exit2, hook) ?? refusalAt(hook, answer);
  const text = textOf(result.stdout.trim());
  if (effect === 'stdout-context' && text !== undefined) return { modelTexts: [text] };
  const isWarning = answer.exit2 !== undefined && effect !== 'cancel';
  if (isWarning && textOf(result.stderr.trim()) === undefined) return {};
  return effectsOfRefusal(effect === 'stdout-context' ? 'user' : effect, reasonOfExit(run));
}

/** Returns the effects of text that is not JSON; undefined if it is an answer that no rule describes. */
function effectsOfText({ hook, result }: FinishedHook, answer: AnswerTable): HookEffects | undefined {
  const text = textOf(result.stdout.trim());
  const kind = forEvent(answer.text, hook) ?? 'ignored';
  // A server answers with JSON or with nothing. Text that begins with a brace is broken JSON.
  const isBroken = text !== undefined && (hook.http !== undefined || text.startsWith('{'));
  if (kind === 'unknown' || isBroken) return undefined;
  if (text === undefined || kind === 'ignored') return {};
  return kind === 'context' ? { modelTexts: [text] } : { userText: text };
}

/** Returns the effects of a failure. Before a tool, the failures that the table lists refuse the call. */
function effectsOfFailure({ kind, message }: HookProblem, { event }: ShellHook, facts: HookFacts): HookEffects {
  const isCall = event === 'before_tool' || event === 'permission_request';
  if (kind === 'malformed' && (isCall || event === 'before_subagent'))
    return facts.unknownAnswerRefuses ? { cancel: 'its output is invalid' } : {};
  const isListed = facts.refusingFailures.some((refusing) => refusing === kind);
  return isCall && isListed ? { cancel: `the hook failed: ${message}` } : {};
}

/** Returns the interpreted result of a hook that refused and failed. Its exit code is not reported as a problem. */
function readRefusal(effects: HookEffects, refusal: HookEffects, failure: HookProblem): HookReading {
  // A hook that only asks a person has not refused, so with `onFailure: 'block'` its failure still cancels.
  const refused = Object.keys(refusal).some((key) => key !== 'ask' && key !== 'userText');
  return { ...SILENT, effects, refused, problem: failure.kind === 'exit-code' ? undefined : failure };
}

/** Returns all effects of an output. The effects of its refusal come first. */
function allEffects(output: JsonObject, { hook, fields }: AnswerRules, refusal: HookEffects): HookEffects {
  const found = fields.map(([path, { means }]) => {
    const value = valueAt(output, path);
    return value === undefined || value === null ? {} : effectOf(means, value, hook);
  });
  const texts = [refusal, ...found].flatMap(({ modelTexts = [] }) => modelTexts);
  const own: HookEffects = Object.assign({}, ...found);
  return {
    ...own,
    ...refusal,
    userText: own.userText ?? refusal.userText,
    modelTexts: texts.length > 0 ? texts : undefined,
  };
}

type Effect = (value: JsonValue, hook: ShellHook) => HookEffects;

/** Returns the effect of one field of an answer. */
function effectOf(means: FieldMeaning, value: JsonValue, hook: ShellHook): HookEffects {
  return EFFECTS[means]?.(value, hook) ?? {};
}

/** The effects of the fields. Decisions and reasons are missing, because they are parts of a refusal. */
const EFFECTS: Readonly<Partial<Record<FieldMeaning, Effect>>> = {
  context: (value) => ofText(value, (text) => ({ modelTexts: [text] })),
  again: (value) => ofText(value, (again) => ({ again })),
  user: (value) => ofText(value, (userText) => ({ userText })),
  input: (value) => ({ input: value as JsonObject }),
  'input-changes': (value) => ({ inputChanges: value as JsonObject }),
  result: (value) => ({ result: resultOf(value) }),
  'copilot-result': (value) => ({ result: copilotResult(value as JsonObject) }),
  tools: (value, { dialect, extension }) => ({ tools: { ...toolLimit(value as JsonObject), dialect, extension } }),
  request: (value) => ({ request: requestChange(value as JsonObject) }),
  response: (value) => ({ response: responseChange(value as JsonObject) }),
};

function ofText(value: JsonValue, effect: (text: string) => HookEffects): HookEffects {
  const text = textOf(value);
  return text === undefined ? {} : effect(text);
}

function copilotResult({ textResultForLlm: text, resultType }: JsonObject): ToolResult | undefined {
  if (typeof text !== 'string') return undefined;
  return resultType === 'failure' ? { content: text, isError: true } : { content: text };
}

const MODES: Readonly<Record<string, 'none' | 'any' | 'auto'>> = { NONE: 'none', ANY: 'any', AUTO: 'auto' };

function toolLimit({ mode, allowedFunctionNames: names }: JsonObject) {
  const limit = MODES[textOf(mode)?.toUpperCase() ?? 'AUTO'] ?? ('auto' as const);
  const listed = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  return { names: listed.length > 0 ? listed : undefined, mode: limit, joins: true };
}
