/** Version 1: one row per session, and one row per message. */
export const sessionTables = `
CREATE TABLE sessions (
  serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  id text NOT NULL,
  uid text NOT NULL,
  revision bigint NOT NULL,
  owner text,
  title text,
  data text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ends_at bigint,
  attempt integer NOT NULL DEFAULT 0,
  claim text,
  claimed_until bigint
);
CREATE INDEX sessions_by_owner ON sessions (md5(owner), updated_at DESC, key) WHERE owner IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at) WHERE ends_at IS NOT NULL;
CREATE TABLE messages (
  session bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
  position integer NOT NULL,
  revision bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (session, position)
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
`;

/** Version 2: the number of messages is a column, so that `list` does not count rows. */
export const sessionLength = `
ALTER TABLE sessions ADD COLUMN length integer NOT NULL DEFAULT 0;
UPDATE sessions SET length = (SELECT count(*) FROM messages WHERE session = serial);
`;
