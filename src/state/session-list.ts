import { required, text, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { SessionPage, SessionQuery, SessionSummary } from './session-store.js';

/** The position of a session in a sorted list of sessions. The next page starts after the last position of a page. */
export interface ListPosition {
  readonly updatedAt: number;
  readonly id: string;
}

const rules = {
  owner: required(text),
  limit: {
    expected: 'a whole number from 1 to 1000',
    accepts: (value) => whole(1).accepts(value) && (value as number) <= 1_000,
  },
  after: { expected: 'the `next` of an earlier page', accepts: (value) => positionOf(value) !== undefined },
} satisfies OptionTable<SessionQuery>;

/** Checks a query and fills in the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveSessionQuery(query: SessionQuery) {
  validateOptions(query, rules);
  const { owner, limit = 50, after } = query;
  return { owner, limit, after: positionOf(after) };
}

/** Returns a page of the first `limit` sessions. If more sessions were found, the page has a `next`. */
export function pageOf(found: readonly SessionSummary[], limit: number): SessionPage {
  const sessions = found.slice(0, limit);
  const last = sessions.at(-1);
  return { sessions, next: last !== undefined && found.length > limit ? cursorOf(last) : undefined };
}

/** Returns one page of the sessions that the query selects, the session with the latest entry first. */
export function listSessions(all: Iterable<SessionSummary>, query: SessionQuery): SessionPage {
  const { owner, limit, after } = resolveSessionQuery(query);
  const later = [...all].filter(
    (it) => it.owner === owner && it.length > 0 && (after === undefined || comparePositions(after, it) < 0),
  );
  return pageOf(later.sort(comparePositions), limit);
}

/** Returns the value of `next` for a page whose last session is this one. */
export function cursorOf({ updatedAt, id }: ListPosition): string {
  return JSON.stringify([updatedAt, id]);
}

/** Sorts sessions by their latest entry, newest first. Sessions with the same time are sorted by id. */
export function comparePositions(a: ListPosition, b: ListPosition): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);
}

function positionOf(after: unknown): ListPosition | undefined {
  try {
    const [updatedAt, id] = JSON.parse(after as string);
    return typeof updatedAt === 'number' && typeof id === 'string' ? { updatedAt, id } : undefined;
  } catch {
    return undefined;
  }
}
