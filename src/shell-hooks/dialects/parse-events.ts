import { describeValue } from '../../errors.js';
import { MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type HookEvent, isGateEvent } from '../../programs/hook-event.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { HookRegistration } from '../hook/definition.js';
import type { DialectEvent, OtherEvents } from './dialect.js';

/** A JSON object of a document. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** The event and the matcher under which a file lists a hook. */
export interface Place {
  /** Name of the event in the file. */
  readonly eventName: string;
  readonly event: HookEvent;
  readonly matcher: unknown;
}

/** Hook settings from an entry of a file, not validated. */
export type HookSettings = Readonly<Record<string, unknown>> & { readonly command: unknown };

/** Rules for a file that maps events to arrays of hooks. */
export interface EventFileRules {
  readonly events: Readonly<Record<string, DialectEvent>>;
  readonly other: OtherEvents;
  /** True if the hooks of an event are in groups with one matcher each. False if each hook has its own matcher. */
  readonly isGrouped: boolean;
  /** True if the other program has a default time limit, which does not apply here. */
  readonly hasDefaultTimeout?: boolean | undefined;
  /** Events at which matchers are used. */
  readonly matched: readonly HookEvent[];
  /** Reads one hook entry. Returns a string with the reason if the hook cannot run. */
  readonly read: (entry: JsonMap, place: Place, source: HookSource) => HookSettings | string;
}

/** The events before and after a tool call. */
export const TOOL_EVENTS: readonly HookEvent[] = ['before_tool', 'after_tool'];

/** Parses the `hooks` of another program's file. */
export function parseEvents(document: JsonMap, source: HookSource, rules: EventFileRules): HookContent {
  const { hooks: map } = document;
  const stray = Object.keys(document).find((key) => Object.hasOwn(rules.events, key));
  if (stray !== undefined) {
    const message = `"${stray}" must be inside \`hooks\`: its hooks do not run. Move it into \`hooks\`.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  }
  if (map === undefined) return { hooks: [] };
  if (!isObject(map)) {
    const message = `\`hooks\` must be an object, got ${describeValue(map)}.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
    return { hooks: [] };
  }
  const isOn = switchedOn(document, source);
  const { disabled: _disabled, enabled: _enabled, ...events } = map;
  const hooks = Object.entries(events).flatMap(([eventName, list]) => parseEvent({ eventName, list }, source, rules));
  if (rules.hasDefaultTimeout && hooks.some(({ timeout }) => timeout === undefined)) {
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

function parseEvent({ eventName, list }: EventList, source: HookSource, rules: EventFileRules): HookRegistration[] {
  const event = Object.hasOwn(rules.events, eventName) ? rules.events[eventName]?.event : undefined;
  if (event === undefined) return refuseEvent({ eventName, list }, source, rules);
  if (!Array.isArray(list))
    return refuse(source, `\`hooks.${eventName}\` must be an array, got ${describeValue(list)}`, event);
  const entries = rules.isGrouped ? list.flatMap((group: unknown) => entriesOf(group)) : list.map(ungrouped);
  let index = 0;
  return entries.flatMap(({ entry, matcher, problem }) => {
    if (problem !== undefined) return refuse(source, `a group of \`hooks.${eventName}\` ${problem}`, event);
    index += 1;
    // At other events, the other program ignores matchers, so an invalid one is not an error.
    const place = { eventName, event, matcher: rules.matched.includes(event) ? matcher : undefined };
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
  readonly rules: EventFileRules;
}

function settingsOf(entry: unknown, { place, source, rules }: EntryPlace): HookSettings | string {
  if (!isObject(entry)) return `it must be an object, got ${describeValue(entry)}`;
  const read = rules.read(entry, place, source);
  if (typeof read === 'string') return read;
  const { matcher } = place;
  if (matcher !== undefined && typeof matcher !== 'string')
    return `\`matcher\` must be a string, got ${describeValue(matcher)}`;
  const name = typeof entry.name === 'string' && entry.name.trim() !== '' ? entry.name : undefined;
  return { name, matcher, ...read };
}

function refuseEvent({ eventName, list }: EventList, source: HookSource, { events, other }: EventFileRules): [] {
  const isGate = other.gates.includes(eventName);
  const isKnown = isGate || other.notices.includes(eventName);
  if (!Array.isArray(list) && !isKnown) {
    reportOn(source, { level: 'info', code: 'key-ignored', message: `\`hooks.${eventName}\` is ignored.` });
    return [];
  }
  const near = nearestName(eventName, Object.keys(events));
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const problem = isKnown ? `Keelson does not have the event "${eventName}".` : `Unknown event "${eventName}".${hint}`;
  const level = isKnown && !isGate ? 'warning' : 'error';
  reportOn(source, { level, code: 'event-unsupported', message: `${problem} Its hooks do not run.` });
  return [];
}

/** Reports a hook that cannot run. A missing guard would go unnoticed, so it is reported as an error. */
function refuse(source: HookSource, problem: string, event: HookEvent): [] {
  const level = isGateEvent(event) ? 'error' : 'warning';
  reportOn(source, { level, code: 'hook-unsupported', message: `A hook does not run: ${problem}.` });
  return [];
}

/** Returns the reason why a hook entry cannot run; undefined if its type is `command`. */
export function problemOfType({ type = 'command' }: JsonMap): string | undefined {
  return type === 'command' ? undefined : `\`type\` must be "command", got ${JSON.stringify(type)}`;
}

/** Converts seconds to milliseconds. */
export function inMilliseconds(seconds: unknown): unknown {
  if (typeof seconds !== 'number') return seconds;
  // Some files contain milliseconds by mistake. Values above the timer limit are capped, so that the guard still runs.
  return Math.min(Math.round(seconds * 1_000), MAX_TIMER_MS);
}
