import type { ShellHook } from '../hook/definition.js';
import type { HookDialect } from '../hook/event.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { type Dialect, type DialectEvent, namedEvent } from './dialect.js';
import { gemini } from './gemini.js';
import { native } from './native.js';

/** Every dialect. A new one is a file of its own and a line here. */
export const DIALECTS: readonly Dialect[] = [native, claude, codex, gemini, cursor, copilot];

const BY_ID = new Map<HookDialect, Dialect>(DIALECTS.map((dialect) => [dialect.id, dialect]));

/** The dialect of this id; the native one for an id that is unknown. */
export function dialectOf(id: HookDialect): Dialect {
  return BY_ID.get(id) ?? native;
}

/** The event of a hook in its dialect; undefined for a hook that no file names. */
export function namedEventOf(hook: ShellHook): DialectEvent | undefined {
  return namedEvent(dialectOf(hook.dialect).events, hook);
}

/** The name of a hook's event in its dialect. */
export function eventNameOf({ dialect, dialectEvent, event }: ShellHook): string {
  if (dialectEvent !== undefined) return dialectEvent;
  const names = Object.entries(dialectOf(dialect).events);
  return names.find(([, named]) => named.event === event)?.[0] ?? event;
}
