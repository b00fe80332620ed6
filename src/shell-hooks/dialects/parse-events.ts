import { MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { HookRegistration } from '../hook/definition.js';
import type { HookEvent } from '../hook/event.js';
import type { DialectEvent } from './dialect.js';

/** An object of a document. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** A place in the file where a hook stands. */
export interface Place {
  /** The event by the name in the file. */
  readonly theirs: string;
  readonly event: HookEvent;
  readonly matcher: unknown;
}

/** The part of a hook that its entry in a file says, unchecked. */
export type HookSettings = Readonly<Record<string, unknown>> & { readonly command: unknown };

/** The rules of a file that maps events to lists of hooks. */
export interface EventFileRules {
  readonly events: Readonly<Record<string, DialectEvent>>;
  /** Events that have no counterpart here. A hook at a gate could have stopped something, so it is missed. */
  readonly other: { readonly notices: readonly string[]; readonly gates: readonly string[] };
  /** Whether the hooks of an event stand in groups, each with a matcher. Else each hook has its own. */
  readonly isGrouped: boolean;
  /** Whether the other program has a default time, which does not hold here. */
  readonly hasDefaultTimeout?: boolean | undefined;
  /** The events at which a matcher is looked at. */
  readonly matched: readonly HookEvent[];
  /** Reads the entry of a hook; a string says why it cannot run. */
  readonly read: (entry: JsonMap, place: Place, source: HookSource) => HookSettings | string;
}

/** The events of tools. */
export const TOOL_EVENTS: readonly HookEvent[] = ['before_tool', 'after_tool'];

/** Reads the `hooks` of another program's file. The rest of the file is not looked at. */
export function parseEvents(document: JsonMap, source: HookSource, rules: EventFileRules): HookContent {
  const { hooks: map } = document;
  const stray = Object.keys(document).find((key) => Object.hasOwn(rules.events, key));
  if (stray !== undefined) {
    const message = `"${stray}" stands beside \`hooks\`, not in it: its hooks do not run.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  }
  if (map === undefined) return { hooks: [] };
  if (!isObject(map)) {
    reportOn(source, { level: 'error', code: 'hooks-invalid', message: '`hooks` must be an object.' });
    return { hooks: [] };
  }
  const isOn = switchedOn(document, source);
  const { disabled: _disabled, enabled: _enabled, ...events } = map;
  const hooks = Object.entries(events).flatMap(([theirs, list]) => parseEvent({ theirs, list }, source, rules));
  if (rules.hasDefaultTimeout && hooks.some(({ timeout }) => timeout === undefined)) {
    const message = 'A hook without a time has that of `hooks.timeout` here.';
    reportOn(source, { level: 'info', code: 'timeout-default', message });
  }
  return { hooks: hooks.filter(isOn) };
}

/** Returns a test for the hooks that the user has not switched off. A file of the workspace has no say in that. */
function switchedOn(document: JsonMap, source: HookSource): (hook: HookRegistration) => boolean {
  const { disableAllHooks, hooksConfig, hooks } = document;
  const settings = [hooksConfig, hooks].filter(isObject);
  const isAllOff = disableAllHooks === true || settings.some(({ enabled }) => enabled === false);
  const names = settings.flatMap(({ disabled }) => (Array.isArray(disabled) ? (disabled as unknown[]) : []));
  if (!isAllOff && names.length === 0) return () => true;
  const isIgnored = source.scope === 'workspace';
  const message = isIgnored
    ? 'What switches hooks off is not read from a file of the workspace.'
    : 'Hooks are switched off in this file.';
  reportOn(source, { level: isIgnored ? 'warning' : 'info', code: 'hooks-switched-off', message });
  return ({ name, command }) => isIgnored || !(isAllOff || names.includes(name) || names.includes(command));
}

interface EventList {
  readonly theirs: string;
  readonly list: unknown;
}

function parseEvent({ theirs, list }: EventList, source: HookSource, rules: EventFileRules): HookRegistration[] {
  const event = Object.hasOwn(rules.events, theirs) ? rules.events[theirs]?.event : undefined;
  if (event === undefined) return refuseEvent({ theirs, list }, source, rules);
  if (!Array.isArray(list)) return refuse(source, `\`hooks.${theirs}\` must be an array`, event);
  const entries = rules.isGrouped ? list.flatMap((group: unknown) => entriesOf(group)) : list.map(ungrouped);
  let index = 0;
  return entries.flatMap(({ entry, matcher, problem }) => {
    if (problem !== undefined) return refuse(source, `a group of \`hooks.${theirs}\` ${problem}`, event);
    index += 1;
    // A matcher that the other program does not look at does no harm when it is invalid.
    const place = { theirs, event, matcher: rules.matched.includes(event) ? matcher : undefined };
    const name = `${source.extension ?? source.dialect}:${theirs}#${index}`;
    const settings = settingsOf(entry, { place, source, rules });
    if (typeof settings === 'string') return refuse(source, `${name}: ${settings}`, event);
    const { scope, extension, root, dialect } = source;
    const origin = { scope, source: source.source, extension, root, dialect, dialectEvent: theirs };
    return [{ event, name, ...settings, ...origin } as unknown as HookRegistration];
  });
}

interface Entry {
  readonly entry?: unknown;
  readonly matcher?: unknown;
  readonly problem?: string;
}

function entriesOf(group: unknown): readonly Entry[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [{ problem: 'has no list of hooks' }];
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
  if (!isObject(entry)) return 'it must be an object';
  const read = rules.read(entry, place, source);
  if (typeof read === 'string') return read;
  const { matcher } = place;
  if (matcher !== undefined && typeof matcher !== 'string') return 'its `matcher` must be a string';
  const { name } = entry;
  return {
    ...(typeof name === 'string' && name.trim() !== '' && { name }),
    ...(matcher !== undefined && { matcher }),
    ...read,
  };
}

function refuseEvent({ theirs, list }: EventList, source: HookSource, { events, other }: EventFileRules): [] {
  const isGate = other.gates.includes(theirs);
  const isKnown = isGate || other.notices.includes(theirs);
  if (!Array.isArray(list) && !isKnown) {
    reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`hooks.${theirs}\` is not read.` });
    return [];
  }
  const near = nearestName(theirs, Object.keys(events));
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const problem = isKnown ? `${theirs} does not exist here.` : `"${theirs}" is no event.${hint}`;
  const level = isKnown && !isGate ? 'warning' : 'error';
  reportOn(source, { level, code: 'event-unsupported', message: `${problem} Its hooks do not run.` });
  return [];
}

/** A missing gate looks like an idle one: it has to be seen. */
function refuse(source: HookSource, problem: string, event: HookEvent): [] {
  const level = event === 'session_start' || event === 'session_end' ? 'warning' : 'error';
  reportOn(source, { level, code: 'hook-unsupported', message: `A hook does not run: ${problem}.` });
  return [];
}

/** Why the entry of a hook cannot run; undefined if it is a command. */
export function problemOfType({ type = 'command' }: JsonMap): string | undefined {
  return type === 'command' ? undefined : `\`type: ${JSON.stringify(type)}\` is not supported, only "command"`;
}

/** Seconds as milliseconds. */
export function inMilliseconds(seconds: unknown): unknown {
  if (typeof seconds !== 'number') return seconds;
  // Many mean milliseconds: what no timer can wait for is no reason to leave a guard out.
  return Math.min(Math.round(seconds * 1_000), MAX_TIMER_MS);
}
