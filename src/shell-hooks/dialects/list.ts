import type { HookDialect } from '../../programs/hook-event.js';
import { type HookTable, namedEvent } from '../../programs/hook-table.js';
import { PROGRAMS, programOf } from '../../programs/list.js';
import type { ShellHook } from '../hook/definition.js';
import { createDialect, type Dialect, type DialectEvent } from './dialect.js';

const created = new WeakMap<HookTable, Dialect>();

/** Returns the ids of the programs with hooks. */
export function dialectIds(): readonly HookDialect[] {
  return PROGRAMS.filter(({ hooks }) => hooks !== undefined).map(({ id }) => id as HookDialect);
}

/** Returns the dialect with this id, or the native dialect if the id is unknown. */
export function dialectOf(id: HookDialect): Dialect {
  const table = programOf(id)?.hooks;
  if (table === undefined) return dialectOf('native');
  const before = created.get(table);
  if (before !== undefined) return before;
  const dialect = createDialect(id, table);
  created.set(table, dialect);
  return dialect;
}

/** Returns true if hooks of the dialect may read a transcript. The other dialects have other formats. */
export function readsTranscripts({ dialect }: Pick<ShellHook, 'dialect'>): boolean {
  return dialectOf(dialect).readsTranscripts;
}

/** Returns the hook's event in its dialect; undefined for a hook without `dialectEvent`. */
export function namedEventOf(hook: Pick<ShellHook, 'dialect' | 'dialectEvent'>): DialectEvent | undefined {
  return hook.dialectEvent === undefined ? undefined : namedEvent(dialectOf(hook.dialect).events, hook);
}

/** Returns the name of the hook's event in its dialect. */
export function eventNameOf({ dialect, dialectEvent, event }: ShellHook): string {
  if (dialectEvent !== undefined) return dialectEvent;
  const names = Object.entries(dialectOf(dialect).events);
  return names.find(([, named]) => named.event === event)?.[0] ?? event;
}
