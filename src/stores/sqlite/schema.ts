/** Version 1 of the tables: one row per session, and one row per message. */
const tables = `
CREATE TABLE sessions (
  serial INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  uid TEXT NOT NULL,
  revision INTEGER NOT NULL,
  owner TEXT,
  title TEXT,
  data TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  ends INTEGER,
  attempt INTEGER NOT NULL DEFAULT 0,
  claim TEXT,
  claimed_until REAL
);
CREATE INDEX sessions_by_owner ON sessions (owner, updated DESC, id) WHERE owner IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ends) WHERE ends IS NOT NULL;
CREATE TABLE messages (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session, position)
) WITHOUT ROWID;
CREATE TABLE state_sessions (
  serial INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL DEFAULT 0,
  uses INTEGER NOT NULL DEFAULT 0,
  ends INTEGER NOT NULL
);
CREATE INDEX state_sessions_by_end ON state_sessions (ends);
CREATE TABLE state_scopes (
  session INTEGER NOT NULL REFERENCES state_sessions ON DELETE CASCADE,
  extension TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  PRIMARY KEY (session, extension)
) WITHOUT ROWID;
CREATE INDEX state_scopes_by_extension ON state_scopes (extension);
CREATE TABLE state_values (
  session INTEGER NOT NULL REFERENCES state_sessions ON DELETE CASCADE,
  extension TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  used INTEGER NOT NULL,
  ends INTEGER,
  PRIMARY KEY (session, extension, key)
);
CREATE INDEX state_values_by_use ON state_values (session, extension, used);
CREATE INDEX state_values_by_end ON state_values (session, ends) WHERE ends IS NOT NULL;
`;

/** Version 2 of the tables: the number of messages is a column, so that `list` does not count rows. */
const sessionLength = `
ALTER TABLE sessions ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET length = (SELECT count(*) FROM messages WHERE session = serial);
`;

/**
 * Version 3 of the tables: a session is a list of entries that a run can claim. Each message becomes an entry whose id
 * is its position.
 *
 * Version 2 stored a message with bytes as `{ packed, bytes }`; version 3 stores `bytes` in the entry. Messages are
 * copied as text, so that a damaged message makes only its own session unreadable.
 */
const entries = `
CREATE TABLE entries (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session, position),
  UNIQUE (session, id)
) WITHOUT ROWID;
INSERT INTO entries
SELECT session, position, position,
  '{"id":"' || position || '"' || iif(position > 0, ',"parent":"' || (position - 1) || '"', '') || ',"at":' || updated
  || ',"body":{"type":"message","message":' || coalesce(packed, body) || '}'
  || iif(packed IS NOT NULL AND bytes <> '[]', ',"bytes":' || bytes, '') || '}'
FROM (
  SELECT session, position, body, iif(json_valid(body), body -> '$.packed', NULL) AS packed,
    iif(json_valid(body), body -> '$.bytes', NULL) AS bytes
  FROM messages
) JOIN sessions ON serial = session;
DROP TABLE messages;
ALTER TABLE sessions DROP COLUMN revision;
ALTER TABLE sessions DROP COLUMN attempt;
ALTER TABLE sessions DROP COLUMN claim;
ALTER TABLE sessions DROP COLUMN claimed_until;
ALTER TABLE sessions ADD COLUMN context INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN waits TEXT;
ALTER TABLE sessions ADD COLUMN claim_token TEXT;
ALTER TABLE sessions ADD COLUMN claim_run TEXT;
ALTER TABLE sessions ADD COLUMN claim_by TEXT;
ALTER TABLE sessions ADD COLUMN claim_until REAL;
ALTER TABLE sessions ADD COLUMN claim_last REAL;
ALTER TABLE sessions ADD COLUMN claim_waits_for TEXT;
ALTER TABLE sessions ADD COLUMN claim_process TEXT;
`;

/**
 * The SQL that upgrades the tables from each version to the next. A released step never changes, because files of any
 * version must reach the same tables.
 */
export const steps: readonly string[] = [tables, sessionLength, entries];
