import type { HookDialect } from '../../programs/hook-event.js';
import type { ShellHook } from '../hook/definition.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { type Dialect, type DialectEvent, namedEvent } from './dialect.js';
import { gemini } from './gemini.js';
import { native } from './native.js';

/** All dialects. A new dialect needs its own file and one line here. */
export const DIALECTS: readonly Dialect[] = [native, claude, codex, gemini, cursor, copilot];

const BY_ID = new Map<HookDialect, Dialect>(DIALECTS.map((dialect) => [dialect.id, dialect]));

/** Returns the dialect with this id, or the native dialect if the id is unknown. */
export function dialectOf(id: HookDialect): Dialect {
  return BY_ID.get(id) ?? native;
}

/** Returns true if hooks of the dialect may read a transcript. The other dialects have other formats. */
export function readsTranscripts({ dialect }: Pick<ShellHook, 'dialect'>): boolean {
  return dialectOf(dialect).readsTranscripts === true;
}

/** Returns the hook's event in its dialect; undefined for a hook without `dialectEvent`. */
export function namedEventOf(hook: Pick<ShellHook, 'dialect' | 'dialectEvent'>): DialectEvent | undefined {
  return namedEvent(dialectOf(hook.dialect).events, hook);
}

/** Returns the name of the hook's event in its dialect. */
export function eventNameOf({ dialect, dialectEvent, event }: ShellHook): string {
  if (dialectEvent !== undefined) return dialectEvent;
  const names = Object.entries(dialectOf(dialect).events);
  return names.find(([, named]) => named.event === event)?.[0] ?? event;
}
