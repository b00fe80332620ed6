import type { Entry } from '../../../state/record/entry.js';
import { entryFromJson, entryToJson } from '../../../state/record/entry-json.js';
import { encodeEntries } from '../../sql-session.js';
import type { Draft } from '../step.js';
import { headOf } from './form.js';
import type { SessionFile } from './session-file.js';

/** Copies entries, so that later changes by the caller do not affect them. Returns the JSON of each copy. */
export function copyEntries(entries: readonly Entry[]): ReadonlyMap<Entry, string> {
  return new Map(encodeEntries(entries).map((json) => [entryFromJson(json), json]));
}

/**
 * Runs `change`, which adds entries to the session in memory. Then writes a line to the log with everything that has
 * changed.
 */
export function addEntries<Answer>(
  { state, now, write }: Draft<SessionFile>,
  copies: ReadonlyMap<Entry, string>,
  change: (added: (entry: Entry) => void) => Answer,
): Answer {
  const { log } = state;
  const { context, waits } = log;
  const position = log.length;
  const entries: string[] = [];
  const answer = change((entry) => entries.push(copies.get(entry) ?? entryToJson(entry)));
  const changed = {
    ...(log.context !== context && { context: log.context }),
    ...(log.waits !== waits && { waits: log.waits }),
  };
  if (entries.length > 0 || Object.keys(changed).length > 0) {
    const at = write([headOf(['add', position, now, changed]), ...entries], true);
    state.lines.push({ position, at });
  }
  return answer;
}
