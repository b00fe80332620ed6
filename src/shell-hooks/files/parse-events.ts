import { describeValue } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { unknownName } from '../../internal/options/validate.js';
import { type HookEvent, isGateEvent } from '../../programs/hook-event.js';
import type { HookFacts } from '../../programs/hook-facts.js';
import { loose } from '../../programs/loose.js';
import type { HookRegistration } from '../hook/definition.js';
import { type HookContent, type HookDiagnostic, type HookSource, reportOn } from '../hook/diagnostic.js';
import { type HookSettings, type JsonMap, readEntry, withoutBadFields } from './read-entry.js';

/** Parses the `hooks` of another program's file. */
export function parseEvents(document: JsonMap, source: HookSource, facts: HookFacts): HookContent {
  return new EventsReader(source, facts).read(document);
}

interface Entry {
  readonly entry?: unknown;
  readonly matcher?: unknown;
  readonly problem?: string;
}

class EventsReader {
  /** Fields of the file that were reported. */
  private readonly reported = new Set<string>();

  constructor(
    private readonly source: HookSource,
    private readonly facts: HookFacts,
  ) {}

  read(document: JsonMap): HookContent {
    const { hooks: map } = document;
    const stray = Object.keys(document).find((key) => Object.hasOwn(this.facts.events, key));
    if (stray !== undefined)
      this.report(
        'error',
        'hooks-invalid',
        `"${stray}" must be inside \`hooks\`: its hooks do not run. Move it into \`hooks\``,
      );
    if (map === undefined || map === null) return { hooks: [] };
    if (!isObject(map)) {
      this.report('error', 'hooks-invalid', `\`hooks\` must be an object, got ${describeValue(map)}`);
      return { hooks: [] };
    }
    const isOn = this.switchedOn(document);
    const { disabled: _disabled, enabled: _enabled, ...events } = map;
    const hooks = Object.entries(events).flatMap(([eventName, list]) => this.hooksOf(eventName, list));
    if (this.facts.defaultTimeout && hooks.some(({ timeout }) => timeout === undefined)) {
      const message = 'Hooks without a time limit use `hooks.timeout`, not the default of the other program';
      this.report('info', 'timeout-default', message);
    }
    return { hooks: hooks.filter(isOn) };
  }

  /** Returns a predicate for the hooks that the file does not disable. A workspace file cannot disable hooks. */
  private switchedOn(document: JsonMap): (hook: HookRegistration) => boolean {
    const { disableAllHooks, hooksConfig, hooks } = document;
    const settings = [hooksConfig, hooks].filter(isObject);
    const isAllOff = disableAllHooks === true || settings.some(({ enabled }) => enabled === false);
    const names = settings.flatMap(({ disabled }) => (Array.isArray(disabled) ? (disabled as unknown[]) : []));
    if (!isAllOff && names.length === 0) return () => true;
    if (this.source.scope === 'workspace') {
      const message = 'Settings that disable hooks are ignored in a file of the workspace';
      this.report('warning', 'hooks-switched-off', message);
      return () => true;
    }
    this.report('info', 'hooks-switched-off', 'Hooks are disabled in this file');
    return ({ name, command }) => !(isAllOff || names.includes(name) || names.includes(command));
  }

  private hooksOf(eventName: string, list: unknown): HookRegistration[] {
    const { events, form } = this.facts;
    const { event, matched, differs } = (Object.hasOwn(events, eventName) ? events[eventName] : undefined) ?? {};
    if (event === undefined) return this.refuseEvent(eventName, list);
    if (differs !== undefined) this.report('info', 'event-differs', `${eventName}: ${differs}`);
    if (!Array.isArray(list))
      return this.refuse(`\`hooks.${eventName}\` must be an array, got ${describeValue(list)}`, event);
    const entries = form.grouped ? list.flatMap((group: unknown) => entriesOf(group)) : list.map(ungrouped);
    const { scope, source, extension, root, dialect } = this.source;
    const origin = { scope, source, extension, root, dialect, dialectEvent: eventName };
    let index = 0;
    return entries.flatMap(({ entry, matcher, problem }) => {
      if (problem !== undefined) return this.refuse(`a group of \`hooks.${eventName}\` ${problem}`, event);
      index += 1;
      const name = `${extension ?? dialect}:${eventName}#${index}`;
      // At events without matchers, the program ignores a matcher, so an invalid matcher is not an error.
      const settings = this.settingsOf(eventName, entry, matched ? (matcher ?? undefined) : undefined);
      if (typeof settings === 'string') return this.refuse(`${name}: ${settings}`, event);
      return [{ event, ...settings, name: settings.name ?? name, ...origin } as unknown as HookRegistration];
    });
  }

  private settingsOf(eventName: string, entry: unknown, matcher: unknown): HookSettings | string {
    if (!isObject(entry)) return `it must be an object, got ${describeValue(entry)}`;
    const given = loose.object(entry);
    const read = readEntry(given, this.source, this.facts);
    if (typeof read === 'string') return read;
    for (const key of Object.keys(given)) if (given[key] !== false) this.reportWithout(key);
    if (matcher !== undefined && typeof matcher !== 'string')
      return `\`matcher\` must be a string, got ${describeValue(matcher)}`;
    const name = typeof given.name === 'string' && given.name.trim() !== '' ? given.name : undefined;
    return withoutBadFields({ name, matcher, ...read }, this.source, eventName);
  }

  /** Reports a field that the other program reads and Keelson ignores. Reported once for each file. */
  private reportWithout(name: string): void {
    const { without = {} } = this.facts.entry;
    if (!Object.hasOwn(without, name) || this.reported.has(name)) return;
    this.reported.add(name);
    this.report('warning', 'key-ignored', `\`${name}\`: ${without[name]}`);
  }

  private refuseEvent(eventName: string, list: unknown): [] {
    const { events } = this.facts;
    const table = Object.hasOwn(events, eventName) ? events[eventName] : undefined;
    if (!Array.isArray(list) && table === undefined) {
      this.report('info', 'key-ignored', `\`hooks.${eventName}\` is ignored`);
      return [];
    }
    const problem =
      table === undefined
        ? unknownName('event', eventName, Object.keys(events))
        : `Keelson does not have the event "${eventName}": ${table.absent}`;
    const level = table !== undefined && table.guards !== true ? 'warning' : 'error';
    this.report(level, 'event-unsupported', `Hooks do not run: ${problem}`);
    return [];
  }

  /** Reports a hook that cannot run. A missing guard would go unnoticed, so it is reported as an error. */
  private refuse(problem: string, event: HookEvent): [] {
    const level = isGateEvent(event) ? 'error' : 'warning';
    this.report(level, 'hook-unsupported', `A hook does not run: ${problem}`);
    return [];
  }

  private report(level: HookDiagnostic['level'], code: string, message: string): void {
    reportOn(this.source, { level, code, message: message.endsWith('?') ? message : `${message}.` });
  }
}

function entriesOf(group: unknown): readonly Entry[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [{ problem: 'must be an object with an array `hooks`' }];
  return group.hooks.map((entry: unknown) => ({ entry, matcher: group.matcher }));
}

function ungrouped(entry: unknown): Entry {
  return { entry, matcher: isObject(entry) ? entry.matcher : undefined };
}
