import { isTimerMs } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type HookRegistration, timeoutProblem } from '../hook/definition.js';
import { HOOK_EVENTS, type HookEvent, isHookEvent } from '../hook/event.js';
import { type HookContent, type HookSource, reportOn } from './source.js';

const KNOWN: readonly string[] = ['hooks', 'name', 'version', 'description', '$schema'];
/** What a hook's entry in a file may say; whose it is, the file does not say. */
const ENTRY_KEYS: readonly string[] = [
  ...['event', 'name', 'command', 'args', 'shell', 'matcher', 'timeout', 'env', 'cwd', 'onFailure', 'exitCodes'],
  ...['files', 'reads', 'sensitive', 'description'],
];

/**
 * Reads the format of this library: `hooks` is a list of hooks, or maps events to lists of them. `timeout` beside the
 * events is the time of those that have none of their own.
 */
export function parseNativeHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  for (const key of Object.keys(document)) {
    if (isHookEvent(key)) {
      const message = `"${key}" stands beside \`hooks\`, not in it: its hooks were left out.`;
      reportOn(source, { level: 'error', code: 'hooks-invalid', message });
    } else if (!KNOWN.includes(key)) ignore(source, key);
  }
  const { hooks } = document;
  if (hooks === undefined) return { hooks: [] };
  if (Array.isArray(hooks)) return { hooks: hooks.flatMap((entry) => entryOf(entry, undefined, source)) };
  if (isObject(hooks)) return parseMap(hooks, source);
  reportOn(source, { level: 'error', code: 'hooks-invalid', message: '`hooks` is no list and no object.' });
  return { hooks: [] };
}

function parseMap(map: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  const hooks: HookRegistration[] = [];
  let timeout: number | undefined;
  for (const [key, value] of Object.entries(map)) {
    if (key === 'timeout' && source.scope !== 'workspace') timeout = timeoutOf(value, source);
    else if (isHookEvent(key) && Array.isArray(value)) {
      hooks.push(...value.flatMap((entry) => entryOf(entry, key, source)));
    } else if (Array.isArray(value) || isHookEvent(key)) refuseEvent(source, key);
    else ignore(source, `hooks.${key}`);
  }
  return { hooks, timeout };
}

function timeoutOf(value: unknown, source: HookSource): number | undefined {
  if (isTimerMs(value)) return value;
  reportOn(source, { level: 'error', code: 'timeout-invalid', message: `${timeoutProblem('hooks.timeout', value)}.` });
  return undefined;
}

function entryOf(entry: unknown, event: HookEvent | undefined, source: HookSource): HookRegistration[] {
  const refuse = (problem: string) => {
    const hook = isObject(entry) && typeof entry.name === 'string' ? entry.name : undefined;
    reportOn(source, { level: 'error', code: 'hook-invalid', message: `A hook was left out: ${problem}.`, hook });
    return [];
  };
  if (!isObject(entry)) return refuse('it is no object');
  if (event !== undefined && entry.event !== undefined && entry.event !== event) {
    return refuse(`it stands under "${event}" and says ${JSON.stringify(entry.event)}`);
  }
  const unknown = Object.keys(entry).find((key) => !ENTRY_KEYS.includes(key));
  if (unknown !== undefined) return refuse(`\`${unknown}\` is no setting of a hook`);
  const { description: _description, ...definition } = entry;
  const { scope, extension, root } = source;
  const named = { event, ...definition } as unknown as HookRegistration;
  return [{ ...named, scope, extension, root, source: source.source, dialect: 'native' }];
}

function refuseEvent(source: HookSource, key: string): void {
  const near = nearestName(key, HOOK_EVENTS);
  const hint = near === undefined || near === key ? '' : ` Did you mean "${near}"?`;
  const problem = isHookEvent(key) ? `\`hooks.${key}\` is no list.` : `"${key}" is no event.${hint}`;
  reportOn(source, { level: 'error', code: 'event-unknown', message: `${problem} Its hooks were left out.` });
}

function ignore(source: HookSource, key: string): void {
  const where = source.scope === 'workspace' ? ' from a file of the workspace' : '';
  reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`${key}\` is not read${where}.` });
}
