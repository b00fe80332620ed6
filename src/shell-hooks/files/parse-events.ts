import { describeValue } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type HookEvent, isGateEvent } from '../../programs/hook-event.js';
import { loose } from '../../programs/loose.js';
import type { HookFacts } from '../dialects/facts.js';
import type { HookRegistration } from '../hook/definition.js';
import { type HookContent, type HookSource, reportOn } from '../hook/diagnostic.js';
import { type HookSettings, type JsonMap, readEntry, withoutBadFields } from './read-entry.js';

/** The event and the matcher under which a file lists a hook. */
interface Place {
  /** Name of the event in the file. */
  readonly eventName: string;
  readonly event: HookEvent;
  readonly matcher: unknown;
}

/** The facts about the program. */
interface Rules extends HookFacts {
  /** Fields of the file that were reported. */
  readonly reported: Set<string>;
}

/** Parses the `hooks` of another program's file. */
export function parseEvents(document: JsonMap, source: HookSource, facts: HookFacts): HookContent {
  const rules = { ...facts, reported: new Set<string>() };
  const { hooks: map } = document;
  const stray = Object.keys(document).find((key) => Object.hasOwn(rules.events, key));
  if (stray !== undefined) {
    const message = `"${stray}" must be inside \`hooks\`: its hooks do not run. Move it into \`hooks\`.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  }
  if (map === undefined || map === null) return { hooks: [] };
  if (!isObject(map)) {
    const message = `\`hooks\` must be an object, got ${describeValue(map)}.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
    return { hooks: [] };
  }
  const isOn = switchedOn(document, source);
  const { disabled: _disabled, enabled: _enabled, ...events } = map;
  const hooks = Object.entries(events).flatMap(([eventName, list]) => parseEvent({ eventName, list }, source, rules));
  if (facts.defaultTimeout && hooks.some(({ timeout }) => timeout === undefined)) {
    const message = 'Hooks without a time limit use `hooks.timeout`, not the default of the other program.';
    reportOn(source, { level: 'info', code: 'timeout-default', message });
  }
  return { hooks: hooks.filter(isOn) };
}

/** Returns a predicate for the hooks that the file does not disable. A workspace file cannot disable hooks. */
function switchedOn(document: JsonMap, source: HookSource): (hook: HookRegistration) => boolean {
  const { disableAllHooks, hooksConfig, hooks } = document;
  const settings = [hooksConfig, hooks].filter(isObject);
  const isAllOff = disableAllHooks === true || settings.some(({ enabled }) => enabled === false);
  const names = settings.flatMap(({ disabled }) => (Array.isArray(disabled) ? (disabled as unknown[]) : []));
  if (!isAllOff && names.length === 0) return () => true;
  const isIgnored = source.scope === 'workspace';
  const message = isIgnored
    ? 'Settings that disable hooks are ignored in a file of the workspace.'
    : 'Hooks are disabled in this file.';
  reportOn(source, { level: isIgnored ? 'warning' : 'info', code: 'hooks-switched-off', message });
  return ({ name, command }) => isIgnored || !(isAllOff || names.includes(name) || names.includes(command));
}

interface EventList {
  readonly eventName: string;
  readonly list: unknown;
}

function parseEvent({ eventName, list }: EventList, source: HookSource, rules: Rules): HookRegistration[] {
  const { event, matched, differs } =
    (Object.hasOwn(rules.events, eventName) ? rules.events[eventName] : undefined) ?? {};
  if (event === undefined) return refuseEvent({ eventName, list }, source, rules);
  if (differs !== undefined)
    reportOn(source, { level: 'info', code: 'event-differs', message: `${eventName}: ${differs}.` });
  if (!Array.isArray(list))
    return refuse(source, `\`hooks.${eventName}\` must be an array, got ${describeValue(list)}`, event);
  const entries = rules.form.grouped ? list.flatMap((group: unknown) => entriesOf(group)) : list.map(ungrouped);
  let index = 0;
  return entries.flatMap(({ entry, matcher, problem }) => {
    if (problem !== undefined) return refuse(source, `a group of \`hooks.${eventName}\` ${problem}`, event);
    index += 1;
    // At other events, the other program ignores matchers, so an invalid one is not an error.
    const place = { eventName, event, matcher: matched ? (matcher ?? undefined) : undefined };
    const name = `${source.extension ?? source.dialect}:${eventName}#${index}`;
    const settings = settingsOf(entry, { place, source, rules });
    if (typeof settings === 'string') return refuse(source, `${name}: ${settings}`, event);
    const { scope, extension, root, dialect } = source;
    const origin = { scope, source: source.source, extension, root, dialect, dialectEvent: eventName };
    return [{ event, ...settings, name: settings.name ?? name, ...origin } as unknown as HookRegistration];
  });
}

interface Entry {
  readonly entry?: unknown;
  readonly matcher?: unknown;
  readonly problem?: string;
}

function entriesOf(group: unknown): readonly Entry[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [{ problem: 'must be an object with an array `hooks`' }];
  return group.hooks.map((entry: unknown) => ({ entry, matcher: group.matcher }));
}

function ungrouped(entry: unknown): Entry {
  return { entry, matcher: isObject(entry) ? entry.matcher : undefined };
}

interface EntryPlace {
  readonly place: Place;
  readonly source: HookSource;
  readonly rules: Rules;
}

function settingsOf(entry: unknown, { place, source, rules }: EntryPlace): HookSettings | string {
  if (!isObject(entry)) return `it must be an object, got ${describeValue(entry)}`;
  const given = loose.object(entry);
  const read = readEntry(given, source, rules);
  if (typeof read === 'string') return read;
  for (const key of Object.keys(given)) if (given[key] !== false) reportWithout(key, source, rules);
  const { matcher } = place;
  if (matcher !== undefined && typeof matcher !== 'string')
    return `\`matcher\` must be a string, got ${describeValue(matcher)}`;
  const name = typeof given.name === 'string' && given.name.trim() !== '' ? given.name : undefined;
  return withoutBadFields({ name, matcher, ...read }, source, place.eventName);
}

/** Reports a field that has an effect in the program only, once for each file. */
function reportWithout(name: string, source: HookSource, { entry: { without = {} }, reported }: Rules): void {
  if (!Object.hasOwn(without, name) || reported.has(name)) return;
  reported.add(name);
  reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`${name}\`: ${without[name]}.` });
}

function refuseEvent({ eventName, list }: EventList, source: HookSource, { events }: Rules): [] {
  const table = Object.hasOwn(events, eventName) ? events[eventName] : undefined;
  if (!Array.isArray(list) && table === undefined) {
    reportOn(source, { level: 'info', code: 'key-ignored', message: `\`hooks.${eventName}\` is ignored.` });
    return [];
  }
  const near = nearestName(eventName, Object.keys(events));
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const problem =
    table === undefined
      ? `Unknown event "${eventName}".${hint}`
      : `Keelson does not have the event "${eventName}": ${table.absent}.`;
  const level = table !== undefined && table.guards !== true ? 'warning' : 'error';
  reportOn(source, { level, code: 'event-unsupported', message: `${problem} Its hooks do not run.` });
  return [];
}

/** Reports a hook that cannot run. A missing guard would go unnoticed, so it is reported as an error. */
function refuse(source: HookSource, problem: string, event: HookEvent): [] {
  const level = isGateEvent(event) ? 'error' : 'warning';
  reportOn(source, { level, code: 'hook-unsupported', message: `A hook does not run: ${problem}.` });
  return [];
}
