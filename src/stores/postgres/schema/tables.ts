/** Version 1 of the schema: one row per session, and one row per message. */
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

/** Version 2 of the schema: the number of messages is a column, so that `list` does not count rows. */
export const sessionLength = `
ALTER TABLE sessions ADD COLUMN length integer NOT NULL DEFAULT 0;
UPDATE sessions SET length = (SELECT count(*) FROM messages WHERE session = serial);
`;

/**
 * Version 3 of the schema: a session is a list of entries that only grows. Each message becomes an entry that follows
 * the previous one. Entries are changed as text, because `jsonb` does not accept all JSON.
 */
export const sessionEntries = `
PERFORM set_config('client_min_messages', 'warning', true);
DROP FUNCTION IF EXISTS session_load(text, text, text, text), session_claim(text, text, text, text),
  session_renew(text, text, text), session_release(text, text), session_sweep(),
  session_save(text, text, text, text, text, text, text, text, text, text, text, text),
  session_fork(text, text, text, text, text, text, text, text, text);
UPDATE sessions SET claim = NULL WHERE claim IS NOT NULL;
ALTER TABLE sessions DROP COLUMN revision, DROP COLUMN attempt, ADD COLUMN context integer NOT NULL DEFAULT 0,
  ADD COLUMN waits text, ADD COLUMN claimed_run text, ADD COLUMN claimed_by text, ADD COLUMN waits_for text;
ALTER TABLE messages RENAME TO entries;
ALTER TABLE entries RENAME CONSTRAINT messages_pkey TO entries_pkey;
ALTER TABLE entries DROP COLUMN revision, ADD COLUMN key text COLLATE "C";
UPDATE entries SET key = position, body = '{"id":"' || position || '",'
  || CASE WHEN position > 0 THEN '"parent":"' || position - 1 || '",' ELSE '' END
  || '"at":' || updated_at || ',"body":{"type":"message","message":' || CASE
    -- A message with bytes: {"packed":…,"bytes":[[0,1],…]}. The positions of the bytes are the end.
    WHEN starts_with(body, '{"packed":') THEN regexp_replace(substr(body, 11), ',(?="bytes":[][0-9,]*}$)', '},')
    ELSE body || '}}'
  END
FROM sessions WHERE serial = session;
ALTER TABLE entries ALTER COLUMN key SET NOT NULL, ADD UNIQUE (session, key);
`;
