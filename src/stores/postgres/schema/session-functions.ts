/**
 * The functions of the session store. All arguments are strings. A function returns no row if it refuses, and otherwise
 * rows of text. A reply of `keep` and a number means that the session has that number of messages, fewer than requested.
 */
const common = `
CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $body$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$body$;

CREATE OR REPLACE FUNCTION session_summary(s sessions) RETURNS text LANGUAGE sql STABLE AS $body$
  SELECT json_build_object('id', s.id, 'revision', s.revision, 'length', s.length, 'owner', s.owner, 'title', s.title,
    'data', s.data, 'created', s.created_at, 'updated', s.updated_at)::text
$body$;

-- Locks a session. Removes the session if it has expired.
CREATE OR REPLACE FUNCTION session_lock(p_key text) RETURNS sessions LANGUAGE plpgsql AS $body$
DECLARE s sessions;
BEGIN
  SELECT * INTO s FROM sessions WHERE key = p_key FOR UPDATE;
  IF s.ends_at <= now_ms() THEN
    DELETE FROM sessions WHERE serial = s.serial;
    RETURN NULL;
  END IF;
  RETURN s;
END $body$;

CREATE OR REPLACE FUNCTION session_sweep() RETURNS void LANGUAGE sql AS $body$
  DELETE FROM sessions WHERE serial IN (
    SELECT serial FROM sessions WHERE ends_at <= now_ms() ORDER BY ends_at LIMIT 2 FOR UPDATE SKIP LOCKED)
$body$;
`;

/** A load and a save give a session 1 % more time than `ttlMs`, so that most loads need not write. */
const load = `
CREATE OR REPLACE FUNCTION session_load(p_key text, p_uid text, p_revision text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  v_now bigint := now_ms();
  v_known bigint := p_revision;
  v_ttl bigint := p_ttl;
BEGIN
  -- One statement, so that the session and its messages are of the same moment.
  RETURN QUERY
  WITH head AS (
    SELECT serial, uid, revision, length, CASE WHEN uid = p_uid AND v_known <= revision THEN coalesce((
      SELECT position + 1 FROM messages WHERE session = serial AND messages.revision <= v_known
      ORDER BY position DESC LIMIT 1), 0) ELSE 0 END AS keep
    FROM sessions WHERE key = p_key AND (ends_at IS NULL OR ends_at > v_now)
  )
  SELECT found.reply FROM (
    SELECT -1 AS at, json_build_array(uid, revision, length, keep)::text AS reply FROM head
    UNION ALL
    SELECT position, body FROM head JOIN messages ON session = serial AND position >= keep
  ) found ORDER BY found.at;
  -- A server that is read-only refuses an UPDATE even if no row matches.
  IF EXISTS (
    SELECT FROM sessions
    WHERE key = p_key AND (ends_at < v_now + v_ttl OR (ends_at IS NULL) <> (v_ttl IS NULL))
  ) AND current_setting('transaction_read_only') = 'off' THEN
    UPDATE sessions SET ends_at = v_now + v_ttl + v_ttl / 100
    WHERE key = p_key AND (ends_at IS NULL OR ends_at > v_now);
  END IF;
END $body$;
`;

const save = `
CREATE OR REPLACE FUNCTION session_save(p_key text, p_id text, p_expected text, p_keep text, p_append text, p_uid text,
  p_new_uid text, p_claim text, p_owner text, p_title text, p_data text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s sessions := session_lock(p_key);
  v_now bigint := now_ms();
  v_keep double precision := p_keep;
  v_ttl bigint := p_ttl;
  v_added integer;
BEGIN
  IF coalesce(s.revision, 0) <> p_expected::double precision THEN RETURN; END IF;
  IF p_uid <> s.uid THEN RETURN; END IF;
  IF p_claim IS DISTINCT FROM s.claim AND (p_claim IS NOT NULL OR s.claimed_until > v_now) THEN RETURN; END IF;
  IF v_keep <> trunc(v_keep) OR v_keep < 0 OR v_keep > coalesce(s.length, 0) THEN
    RETURN QUERY VALUES ('keep'), (coalesce(s.length, 0)::text);
    RETURN;
  END IF;
  IF s.serial IS NULL THEN
    INSERT INTO sessions (key, id, uid, revision, length, owner, title, data, created_at, updated_at)
    VALUES (p_key, p_id, coalesce(p_uid, p_new_uid), 0, 0, p_owner, p_title, p_data, v_now, v_now)
    ON CONFLICT (key) DO NOTHING RETURNING * INTO s;
    IF NOT FOUND THEN RETURN; END IF;
  ELSIF v_keep < s.length THEN
    DELETE FROM messages WHERE session = s.serial AND position >= v_keep::integer;
  END IF;
  INSERT INTO messages (session, position, revision, body)
  SELECT s.serial, v_keep + item.at - 1, s.revision + 1, item.body
  FROM json_array_elements_text(p_append::json) WITH ORDINALITY AS item (body, at);
  GET DIAGNOSTICS v_added = ROW_COUNT;
  UPDATE sessions SET revision = s.revision + 1, length = v_keep + v_added, updated_at = v_now,
    ends_at = v_now + v_ttl + v_ttl / 100, attempt = 0, claim = NULL, claimed_until = NULL
  WHERE serial = s.serial;
  PERFORM session_sweep();
  RETURN NEXT (s.revision + 1)::text;
END $body$;

CREATE OR REPLACE FUNCTION session_delete(p_key text) RETURNS SETOF text LANGUAGE sql AS $body$
  DELETE FROM sessions WHERE key = p_key RETURNING 'deleted'
$body$;
`;

const claims = `
CREATE OR REPLACE FUNCTION session_claim(p_key text, p_claim text, p_revision text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s sessions := session_lock(p_key);
  v_now bigint := now_ms();
  v_attempt integer := s.attempt;
BEGIN
  IF s.serial IS NULL OR s.revision <> p_revision::double precision THEN RETURN; END IF;
  IF s.claim IS DISTINCT FROM p_claim THEN
    IF s.claim IS NOT NULL AND s.claimed_until > v_now THEN RETURN; END IF;
    v_attempt := v_attempt + 1;
  END IF;
  UPDATE sessions SET claim = p_claim, claimed_until = v_now + p_ttl::double precision, attempt = v_attempt
  WHERE serial = s.serial;
  RETURN NEXT v_attempt::text;
END $body$;

CREATE OR REPLACE FUNCTION session_renew(p_key text, p_claim text, p_ttl text) RETURNS SETOF text LANGUAGE sql AS $body$
  UPDATE sessions SET claimed_until = now_ms() + p_ttl::double precision
  WHERE key = p_key AND claim = p_claim AND (ends_at IS NULL OR ends_at > now_ms()) RETURNING 'renewed'
$body$;

CREATE OR REPLACE FUNCTION session_release(p_key text, p_claim text) RETURNS SETOF text LANGUAGE sql AS $body$
  UPDATE sessions SET claim = NULL, claimed_until = NULL WHERE key = p_key AND claim = p_claim RETURNING 'released'
$body$;
`;

const lists = `
CREATE OR REPLACE FUNCTION session_list(p_owner text, p_limit text, p_updated text, p_key text)
RETURNS SETOF text LANGUAGE sql AS $body$
  SELECT session_summary(sessions) FROM sessions
  WHERE md5(owner) = md5(p_owner) AND owner = p_owner AND (ends_at IS NULL OR ends_at > now_ms())
    AND (p_updated IS NULL OR updated_at < p_updated::double precision
      OR updated_at = p_updated::double precision AND key > p_key COLLATE "C")
  ORDER BY updated_at DESC, key LIMIT p_limit::integer
$body$;

CREATE OR REPLACE FUNCTION session_details(p_key text, p_title text, p_data text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
BEGIN
  IF p_title IS NOT NULL OR p_data IS NOT NULL THEN
    UPDATE sessions SET title = coalesce(p_title, title), data = coalesce(p_data, data)
    WHERE key = p_key AND (ends_at IS NULL OR ends_at > now_ms());
  END IF;
  RETURN QUERY SELECT session_summary(sessions) FROM sessions
  WHERE key = p_key AND (ends_at IS NULL OR ends_at > now_ms());
END $body$;
`;

const fork = `
CREATE OR REPLACE FUNCTION session_fork(p_key text, p_new_key text, p_new_id text, p_keep text, p_new_uid text,
  p_owner text, p_title text, p_data text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s sessions := session_lock(p_key);
  t sessions;
  v_now bigint := now_ms();
  v_keep double precision := coalesce(p_keep::double precision, s.length);
  v_ttl bigint := p_ttl;
BEGIN
  IF s.serial IS NULL THEN RETURN; END IF;
  IF v_keep <> trunc(v_keep) OR v_keep < 0 OR v_keep > s.length THEN
    RETURN QUERY VALUES ('keep'), (s.length::text);
    RETURN;
  END IF;
  DELETE FROM sessions WHERE key = p_new_key AND ends_at <= v_now;
  INSERT INTO sessions (key, id, uid, revision, length, owner, title, data, created_at, updated_at, ends_at)
  VALUES (p_new_key, p_new_id, p_new_uid, 1, v_keep, coalesce(p_owner, s.owner), coalesce(p_title, s.title),
    coalesce(p_data, s.data), v_now, v_now, v_now + v_ttl + v_ttl / 100)
  ON CONFLICT (key) DO NOTHING RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NEXT 'exists';
    RETURN;
  END IF;
  INSERT INTO messages (session, position, revision, body)
  SELECT t.serial, position, 1, body FROM messages WHERE session = s.serial AND position < v_keep::integer;
  RETURN NEXT session_summary(t);
END $body$;
`;

export const sessionFunctions = [common, load, save, claims, lists, fork].join('');
