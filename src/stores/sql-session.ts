import { describeError, MessageInvalidError } from '../errors.js';
import type { Entry } from '../state/record/entry.js';
import { entryToJson } from '../state/record/entry-json.js';
import { copyDetails } from '../state/session-details.js';
import type { SessionDetails, SessionSummary } from '../state/session-store.js';
import { fromSqlText, textOrNull } from './sql-text.js';

/** The owner, the title and the data of a session as SQL columns. */
export interface DetailColumns {
  readonly owner: string | null;
  readonly title: string | null;
  /** JSON. */
  readonly data: string | null;
}

/** A session without its entries, as SQL columns. */
export interface SummaryColumns extends DetailColumns {
  readonly id: string;
  readonly length: number;
  readonly created: number;
  readonly updated: number;
}

/** Encodes the details of a session as SQL columns. Throws an OptionInvalidError if a detail is invalid. */
export function detailColumns(details: SessionDetails = {}): DetailColumns {
  const { owner, title, data } = copyDetails(details);
  return {
    owner: textOrNull(owner),
    title: textOrNull(title),
    data: data === undefined ? null : JSON.stringify(data),
  };
}

/** Decodes the SQL columns of a session. */
export function summaryOf(columns: SummaryColumns): SessionSummary {
  const { id, owner, title, data, length, created, updated } = columns;
  return {
    ...(owner !== null && { owner: fromSqlText(owner) }),
    ...(title !== null && { title: fromSqlText(title) }),
    ...(data !== null && { data: JSON.parse(data) }),
    id: fromSqlText(id),
    length,
    createdAt: created,
    updatedAt: updated,
  };
}

/** Encodes entries as JSON. Throws a MessageInvalidError if JSON cannot represent an entry. */
export function encodeEntries(entries: readonly Entry[]): string[] {
  return entries.map((entry) => {
    try {
      return entryToJson(entry);
    } catch (cause) {
      throw new MessageInvalidError(`A message cannot be stored as JSON: ${describeError(cause)}`, { cause });
    }
  });
}
