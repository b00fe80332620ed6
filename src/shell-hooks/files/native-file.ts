import { describeValue } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { timerMs } from '../../internal/options/rules.js';
import { memberProblems, unknownName } from '../../internal/options/validate.js';
import { HOOK_EVENTS, type HookEvent, isHookEvent } from '../../programs/hook-event.js';
import { loose } from '../../programs/loose.js';
import { definitionRules, type HookRegistration } from '../hook/definition.js';
import { type HookContent, type HookSource, reportOn } from '../hook/diagnostic.js';
import { type JsonMap, withoutBadFields } from './read-entry.js';

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
 * Returns the `timeout` of an object. In a workspace file, `timeout` is ignored, because it would apply to the hooks of
 * all files.
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
    const hook = isObject(entry) ? nameIn(entry) : undefined;
    reportOn(source, { level: 'error', code: 'hook-invalid', message: `A hook was left out: ${problem}.`, hook });
    return [];
  };
  if (!isObject(entry)) return refuse(`it must be an object, got ${describeValue(entry)}`);
  if (event !== undefined && entry.event !== undefined && entry.event !== event) {
    return refuse(`\`event\` must be "${event}", the key of its list, got ${JSON.stringify(entry.event)}`);
  }
  const { description: _description, ...definition } = entry;
  const { scope, extension, root } = source;
  const at = String(event ?? entry.event);
  const { name, ...settings } = loose.object(withoutUnknown(definition, source, at));
  const named = { name, event, ...withoutBadFields(settings, source, at) } as unknown as HookRegistration;
  return [{ ...named, scope, extension, root, source: source.source, dialect: 'native' }];
}

function nameIn({ name }: JsonMap): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

/** Leaves out and reports each unknown setting, so that such a setting does not switch off a guard. */
function withoutUnknown(definition: JsonMap, source: HookSource, at: string): JsonMap {
  const known = Object.keys(definitionRules);
  for (const key of Object.keys(definition)) {
    if (known.includes(key)) continue;
    const message = `A hook at ${at} has a setting without effect: ${sentence(unknownName('setting', key, known))}`;
    reportOn(source, { level: 'warning', code: 'key-ignored', message, hook: nameIn(definition) });
  }
  return Object.fromEntries(Object.entries(definition).filter(([key]) => known.includes(key)));
}

function refuseEvent(source: HookSource, key: string): void {
  const problem = isHookEvent(key) ? `\`hooks.${key}\` must be an array` : unknownName('event', key, HOOK_EVENTS);
  reportOn(source, { level: 'error', code: 'event-unknown', message: `Hooks were left out: ${sentence(problem)}` });
}

function sentence(problem: string): string {
  return problem.endsWith('?') ? problem : `${problem}.`;
}

function ignore(source: HookSource, key: string): void {
  const where = source.scope === 'workspace' ? ' in a file of the workspace' : '';
  reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`${key}\` is ignored${where}.` });
}
