import { describeValue } from '../../errors.js';
import { isObject, type JsonObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { timerMs } from '../../internal/options/rules.js';
import { memberProblems, unknownName } from '../../internal/options/validate.js';
import { HOOK_EVENTS, type HookEvent, isHookEvent } from '../../programs/hook-event.js';
import { loose } from '../../programs/loose.js';
import { definitionRules, type HookRegistration } from '../hook/definition.js';
import { type HookContent, type HookSource, reportOn } from '../hook/diagnostic.js';
import { type FinishedHook, failed, type HookEffects, type HookReading, SILENT } from '../hook/effects.js';
import { type HookProblem, malformed } from '../hook/problem.js';
import { conversationEffects, findBadConversation } from './conversation-fields.js';
import {
  findBadField,
  parseRun,
  reasonOf,
  reasonOfExit,
  resultOf,
  spellsRefusal,
  textOf,
  UNREADABLE_REFUSAL,
} from './output.js';
import type { JsonMap } from './parse-events.js';
import { withoutBadFields } from './read-entry.js';

const KNOWN: readonly string[] = ['hooks', 'timeout', 'name', 'version', 'description', '$schema'];
/**
 * Parses a document in Keelson's own format. `hooks` is an array of hooks, or an object with `timeout` and arrays by
 * event or one array `hooks`. `timeout` is also accepted as a top-level key.
 */
export function parseNativeHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  for (const key of Object.keys(document)) {
    if (isHookEvent(key)) {
      const message = `"${key}" must be inside \`hooks\`: its hooks were left out. Move it into \`hooks\`.`;
      reportOn(source, { level: 'error', code: 'hooks-invalid', message });
    } else if (!KNOWN.includes(key)) ignore(source, key);
  }
  const { hooks = [] } = document;
  const timeout = timeoutOf(document, source, 'timeout');
  if (Array.isArray(hooks)) return { hooks: hooks.flatMap((entry) => entryOf(entry, undefined, source)), timeout };
  if (isObject(hooks)) {
    const content = parseMap(hooks, source);
    return { ...content, timeout: content.timeout ?? timeout };
  }
  const message = `\`hooks\` must be an array or an object, got ${describeValue(hooks)}.`;
  reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  return { hooks: [] };
}

function parseMap(map: JsonMap, source: HookSource): HookContent {
  const hooks: HookRegistration[] = [];
  const timeout = timeoutOf(map, source, 'hooks.timeout');
  for (const [key, value] of Object.entries(map)) {
    if (key === 'timeout') continue;
    const event = isHookEvent(key) ? key : undefined;
    if ((event !== undefined || key === 'hooks') && Array.isArray(value)) {
      hooks.push(...value.flatMap((entry) => entryOf(entry, event, source)));
    } else if (Array.isArray(value) || isHookEvent(key)) refuseEvent(source, key);
    else ignore(source, `hooks.${key}`);
  }
  return { hooks, timeout };
}

/**
 * Returns the `timeout` of an object. In a workspace file it is ignored, because it would apply to the hooks of all
 * files.
 */
function timeoutOf({ timeout }: JsonMap, source: HookSource, path: string): number | undefined {
  if (timeout === undefined) return undefined;
  if (source.scope === 'workspace') {
    ignore(source, path);
    return undefined;
  }
  const [problem] = memberProblems({ [path]: timeout }, { [path]: timerMs });
  if (problem === undefined) return timeout as number;
  reportOn(source, { level: 'error', code: 'timeout-invalid', message: `${problem}.` });
  return undefined;
}

function entryOf(entry: unknown, event: HookEvent | undefined, source: HookSource): HookRegistration[] {
  const refuse = (problem: string) => {
    const hook = isObject(entry) && typeof entry.name === 'string' ? entry.name : undefined;
    reportOn(source, { level: 'error', code: 'hook-invalid', message: `A hook was left out: ${problem}.`, hook });
    return [];
  };
  if (!isObject(entry)) return refuse(`it must be an object, got ${describeValue(entry)}`);
  if (event !== undefined && entry.event !== undefined && entry.event !== event) {
    return refuse(`\`event\` must be "${event}", the key of its list, got ${JSON.stringify(entry.event)}`);
  }
  const { description: _description, ...definition } = entry;
  const unknown = Object.keys(definition).find((key) => !Object.hasOwn(definitionRules, key));
  if (unknown !== undefined) return refuse(unknownName('setting', unknown, Object.keys(definitionRules)));
  const { scope, extension, root } = source;
  const at = String(event ?? entry.event);
  const { name, ...settings } = loose.object(definition);
  const named = { name, event, ...withoutBadFields(settings, source, at) } as unknown as HookRegistration;
  return [{ ...named, scope, extension, root, source: source.source, dialect: 'native' }];
}

function refuseEvent(source: HookSource, key: string): void {
  const near = nearestName(key, HOOK_EVENTS);
  const hint = near === undefined || near === key ? '' : ` Did you mean "${near}"?`;
  const problem = isHookEvent(key) ? `\`hooks.${key}\` must be an array.` : `Unknown event "${key}".${hint}`;
  reportOn(source, { level: 'error', code: 'event-unknown', message: `${problem} Its hooks were left out.` });
}

function ignore(source: HookSource, key: string): void {
  const where = source.scope === 'workspace' ? ' in a file of the workspace' : '';
  reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`${key}\` is ignored${where}.` });
}

/** Types of output fields. */
const FIELDS = {
  systemMessage: 'text',
  reason: 'text',
  updatedPrompt: 'text',
  updatedInput: 'object',
  updatedTools: 'texts',
} as const;
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
  const { output, failure, problem } = parseRun(run);
  const bad = problem ?? (output && problemIn(output));
  const failing = failure ?? (bad === undefined ? undefined : malformed(bad));
  if (failing !== undefined) return readFailed(output, run, failing);
  if (output === undefined) return SILENT;
  const fields = camelCased(output);
  const ignored = [...misplacedIn(fields, hook.event), ...foreignDecisionsIn(fields)];
  return { output, data: dataOf(fields), effects: effectsOf(fields, run), ignored };
}

function camelCased(output: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [SNAKE_CASE.get(key) ?? key, value]));
}

function problemIn(output: JsonObject): string | undefined {
  const repeated = [...SNAKE_CASE].find((names) => names.every((name) => Object.hasOwn(output, name)));
  if (repeated !== undefined) return `\`${repeated.join('` and `')}\` are the same field: use only one of them`;
  const fields = camelCased(output);
  return findBadField(fields, FIELDS) ?? findBadConversation(fields);
}

function misplacedIn(output: JsonObject, event: HookEvent): readonly string[] {
  const misplaced = Object.entries(UPDATES).filter(([name, events]) => !events.includes(event) && name in output);
  return misplaced.map(([name]) => name).filter((name) => output[name] !== null);
}

/** Returns fields that refuse a call in other programs, but are only data here. */
function foreignDecisionsIn({ decision, hookSpecificOutput }: JsonObject): readonly string[] {
  const isDecision = ['deny', 'block', 'ask'].includes(textOf(decision) ?? '');
  return [...(isDecision ? ['decision'] : []), ...(isObject(hookSpecificOutput) ? ['hookSpecificOutput'] : [])];
}

/** A cancellation in text that is not one JSON object. */
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
