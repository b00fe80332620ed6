/** The version of the tables. Versions 1 and 2 were never released. */
export const VERSION = 3;

/** One row per session with its claim, one row per entry, and the state of extensions. A released version never changes. */
export const tables = `
CREATE TABLE sessions (
  serial INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  uid TEXT NOT NULL,
  owner TEXT,
  title TEXT,
  data TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  ends INTEGER,
  length INTEGER NOT NULL DEFAULT 0,
  context INTEGER NOT NULL DEFAULT 0,
  waits TEXT,
  claim_token TEXT,
  claim_run TEXT,
  claim_by TEXT,
  claim_until REAL,
  claim_last REAL,
  claim_waits_for TEXT,
  claim_process TEXT
);
CREATE INDEX sessions_by_owner ON sessions (owner, updated DESC, id) WHERE owner IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ends) WHERE ends IS NOT NULL;
CREATE TABLE entries (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session, position),
  UNIQUE (session, id)
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
