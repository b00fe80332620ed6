import type { JsonValue } from '../../internal/json.js';
import type { Entry } from '../../state/record/entry.js';
import { entryFromJson, entryToJson } from '../../state/record/entry-json.js';
import type { SessionHolder, StoredRecord } from '../../state/session-store.js';
import { textsOf } from './connection.js';
import { RedisDataError } from './error.js';
import type { SessionKeys } from './keys.js';

/** The decoded reply of a Lua script of the session store. */
export interface SessionReply {
  /** The owner, if the index of the owner's sessions must be updated. Otherwise null. */
  readonly owner: string | null;
  /** Time of the last entry, in milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly record: StoredRecord;
  /** Further values, which depend on the script. */
  readonly values: readonly JsonValue[];
}

const PROBLEMS: Readonly<Record<string, string>> = {
  outdated:
    'an earlier version of Keelson wrote this session, and this version cannot read it. Use another `prefix`, or delete the session.',
  damaged:
    'the number of entries is wrong. Redis may have evicted keys; set `maxmemory-policy noeviction`, and delete the session.',
};

type Fields = [owner: string | null, updatedAt: number, uid: string, length: number, offset: number, ...JsonValue[]];

interface Reader<T> {
  readonly name: string;
  read(json: string): T | undefined;
}

/** Decodes the reply of a Lua script of the session store. Throws a RedisDataError if the data cannot be read. */
export function readReply(reply: unknown, [head, list]: SessionKeys): SessionReply {
  if (!Array.isArray(reply)) throw new RedisDataError(head, PROBLEMS[textsOf([reply])[0] ?? ''] ?? '');
  const [bodies, ...fields] = reply;
  const read = textsOf(fields).map((json) => readJson<JsonValue>(json, head, { name: 'a field', read: JSON.parse }));
  const [owner, updatedAt, uid, length, offset, run, until, by, waitsFor, ...values] = read as Fields;
  const entries = textsOf(bodies).map((json, at) =>
    readJson(json, list, { name: `entry ${offset + at}`, read: readEntry }),
  );
  const holder = Object.entries({ run, until, by, waitsFor }).filter(([, value]) => value !== null);
  const held = run === null ? {} : { holder: Object.fromEntries(holder) as unknown as SessionHolder };
  return { owner, updatedAt, record: { uid, length, offset, entries, ...held }, values };
}

/**
 * Returns a list in which the id and the JSON of each entry alternate. Throws a RedisDataError if JSON cannot represent
 * an entry.
 */
export function writeEntries(entries: readonly Entry[], [, list]: SessionKeys): string[] {
  return entries.flatMap((entry) => {
    try {
      return [JSON.stringify(entry.id), entryToJson(entry)];
    } catch (cause) {
      const problem = `entry "${entry.id}" cannot be written as JSON. Use only values that JSON supports.`;
      throw new RedisDataError(list, problem, cause);
    }
  });
}

function readEntry(json: string): Entry | undefined {
  const entry = entryFromJson(json);
  return typeof entry.id === 'string' ? entry : undefined;
}

function readJson<T>(json: string, key: string, { name, read }: Reader<T>): T {
  let cause: unknown;
  try {
    const value = read(json);
    if (value !== undefined) return value;
  } catch (error) {
    cause = error;
  }
  const shown = json.length > 60 ? `${json.slice(0, 60)}…` : json;
  throw new RedisDataError(key, `${name} is invalid: ${shown}. Repair it, or delete the session.`, cause);
}
