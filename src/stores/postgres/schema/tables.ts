/**
 * One row per session with its claim, one row per entry, the state of extensions, and the logs of runs with one row per
 * event. Offsets of events have no gaps, from `first_offset` to before `end_offset`.
 */
export const tables = `
CREATE TABLE sessions (
  serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  id text NOT NULL,
  uid text NOT NULL,
  owner text,
  title text,
  data text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ends_at bigint,
  claim text,
  claimed_until bigint,
  length integer NOT NULL DEFAULT 0,
  context integer NOT NULL DEFAULT 0,
  waits text,
  claimed_run text,
  claimed_by text,
  waits_for text
);
CREATE INDEX sessions_by_owner ON sessions (md5(owner), updated_at DESC, key) WHERE owner IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at) WHERE ends_at IS NOT NULL;
CREATE TABLE entries (
  session bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
  position integer NOT NULL,
  body text NOT NULL,
  key text COLLATE "C" NOT NULL,
  PRIMARY KEY (session, position),
  UNIQUE (session, key)
);
CREATE TABLE state_sessions (
  serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  bytes bigint NOT NULL DEFAULT 0,
  uses bigint NOT NULL DEFAULT 0,
  ends_at bigint NOT NULL
);
CREATE INDEX state_sessions_by_end ON state_sessions (ends_at);
CREATE TABLE state_scopes (
  session bigint NOT NULL REFERENCES state_sessions ON DELETE CASCADE,
  extension text COLLATE "C" NOT NULL,
  name text NOT NULL,
  bytes bigint NOT NULL,
  keys integer NOT NULL,
  PRIMARY KEY (session, extension)
);
CREATE INDEX state_scopes_by_extension ON state_scopes (extension);
CREATE TABLE state_values (
  session bigint NOT NULL REFERENCES state_sessions ON DELETE CASCADE,
  extension text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  name text NOT NULL,
  value text COLLATE "C" NOT NULL,
  bytes integer NOT NULL,
  used bigint NOT NULL,
  ends_at bigint,
  PRIMARY KEY (session, extension, key)
);
CREATE INDEX state_values_by_use ON state_values (session, extension, used);
CREATE INDEX state_values_by_end ON state_values (session, ends_at) WHERE ends_at IS NOT NULL;
CREATE TABLE run_logs (
  serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  first_offset integer NOT NULL DEFAULT 0,
  end_offset integer NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  outcome text,
  watched_at bigint NOT NULL,
  ends_at bigint NOT NULL
);
CREATE INDEX run_logs_by_end ON run_logs (ends_at);
CREATE TABLE run_events (
  log bigint NOT NULL REFERENCES run_logs ON DELETE CASCADE,
  position integer NOT NULL,
  body text COLLATE "C" NOT NULL,
  PRIMARY KEY (log, position)
);
`;
