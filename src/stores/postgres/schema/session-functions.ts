/**
 * SQL functions of the session store. All arguments are strings. Most functions return no row if the session is not
 * stored. Otherwise the first row is an answer in JSON, and the following rows are entries.
 *
 * `p_entries` is a JSON array of pairs: a key and the JSON of an entry. Appends, posts and claims first lock the row of
 * the session. If the column `claim` is NULL, no run holds the session.
 */
const common = `
CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $body$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$body$;

CREATE OR REPLACE FUNCTION session_summary(s sessions) RETURNS text LANGUAGE sql STABLE AS $body$
  SELECT json_build_object('id', s.id, 'length', s.length, 'owner', s.owner, 'title', s.title, 'data', s.data,
    'created', s.created_at, 'updated', s.updated_at)::text
$body$;

CREATE OR REPLACE FUNCTION session_holder(s sessions) RETURNS json LANGUAGE sql STABLE AS $body$
  SELECT json_build_object('run', s.claimed_run, 'until', s.claimed_until, 'by', s.claimed_by, 'waitsFor', s.waits_for)
  WHERE s.claim IS NOT NULL
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

-- Adds the entries that are not stored to a locked session, and writes its claim, its context and the run that waits.
CREATE OR REPLACE FUNCTION session_add(s sessions, p_entries text, p_ttl text)
RETURNS sessions LANGUAGE plpgsql AS $body$
DECLARE
  v_entry json;
  v_length integer := s.length;
  v_now bigint := now_ms();
BEGIN
  FOR v_entry IN SELECT json_array_elements(p_entries::json) LOOP
    INSERT INTO entries (session, position, key, body) VALUES (s.serial, v_length, v_entry->>0, v_entry->>1)
    ON CONFLICT (session, key) DO NOTHING;
    IF FOUND THEN v_length := v_length + 1; END IF;
  END LOOP;
  UPDATE sessions SET claim = s.claim, context = s.context, waits = s.waits, length = v_length,
    created_at = CASE WHEN s.length = 0 THEN v_now ELSE s.created_at END,
    updated_at = CASE WHEN s.length = v_length THEN s.updated_at ELSE v_now END,
    ends_at = v_now + p_ttl::bigint * 101 / 100
  WHERE serial = s.serial RETURNING * INTO s;
  DELETE FROM sessions WHERE serial IN (
    SELECT serial FROM sessions WHERE ends_at <= v_now ORDER BY ends_at LIMIT 2 FOR UPDATE SKIP LOCKED);
  RETURN s;
END $body$;
`;

/**
 * SQL function that loads a session and extends its lifetime. The stored expiry time is 1 % of the lifetime too late,
 * so that most later loads need no write.
 */
const load = `
CREATE OR REPLACE FUNCTION session_load(p_key text, p_uid text, p_known text, p_from text, p_before text, p_limit text,
  p_ttl text) RETURNS SETOF text LANGUAGE plpgsql AS $body$
BEGIN
  -- One statement, so that the session and its entries are of the same moment.
  RETURN QUERY
  WITH head AS (
    SELECT serial, json_build_object('uid', uid, 'length', length, 'holder', session_holder(sessions)) AS reply,
      greatest(coalesce(p_before::bigint, length) - p_limit::bigint, CASE
        WHEN uid = p_uid AND p_known::bigint <= length THEN p_known::bigint
        WHEN p_from = 'context' THEN context ELSE 0 END) AS first
    FROM sessions WHERE key = p_key AND (ends_at IS NULL OR ends_at > now_ms())
  )
  SELECT found.reply FROM (
    SELECT -1 AS at, json_build_array(reply, first)::text AS reply FROM head
    UNION ALL
    SELECT position, body FROM head JOIN entries ON session = serial AND position >= first
    WHERE p_before IS NULL OR position < p_before::bigint
  ) found ORDER BY found.at;
  -- A server that is read-only refuses an UPDATE even if no row matches.
  IF current_setting('transaction_read_only') = 'off' AND EXISTS (
    SELECT FROM sessions
    WHERE key = p_key AND (ends_at < now_ms() + p_ttl::bigint OR (ends_at IS NULL) <> (p_ttl IS NULL))
  ) THEN
    UPDATE sessions SET ends_at = now_ms() + p_ttl::bigint * 101 / 100
    WHERE key = p_key AND (ends_at IS NULL OR ends_at > now_ms());
  END IF;
END $body$;
`;

/**
 * SQL functions that claim a session and renew the claim. They do not wait for the disk. A run does nothing before its
 * first append, which flushes the claim too.
 */
const claims = `
CREATE OR REPLACE FUNCTION session_claim(p_key text, p_id text, p_claim text, p_run text, p_by text, p_claim_ttl text,
  p_uid text, p_known text, p_owner text, p_title text, p_data text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE s sessions;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  LOOP
    s := session_lock(p_key);
    EXIT WHEN s.serial IS NOT NULL;
    INSERT INTO sessions (key, id, uid, created_at, updated_at) VALUES (p_key, p_id, gen_random_uuid(), 0, 0)
    ON CONFLICT (key) DO NOTHING;
  END LOOP;
  IF s.claim <> p_claim AND s.claimed_until > now_ms() THEN
    RETURN NEXT json_build_object('claimed', false, 'holder', session_holder(s));
    RETURN;
  END IF;
  UPDATE sessions SET claim = p_claim, claimed_run = p_run, claimed_by = p_by, waits_for = NULL,
    claimed_until = now_ms() + p_claim_ttl::double precision
  WHERE serial = s.serial;
  UPDATE sessions SET owner = coalesce(p_owner, owner), title = coalesce(p_title, title), data = coalesce(p_data, data)
  WHERE serial = s.serial AND length = 0;
  RETURN NEXT json_build_object('claimed', true, 'lost', CASE WHEN s.claim <> p_claim THEN s.claimed_run END);
  RETURN QUERY SELECT session_load(p_key, p_uid, p_known, 'context', NULL, NULL, p_ttl);
END $body$;

CREATE OR REPLACE FUNCTION session_renew(p_key text, p_claim text, p_claim_ttl text, p_waits_for text)
RETURNS SETOF text LANGUAGE sql AS $body$
  SELECT set_config('synchronous_commit', 'off', true);
  UPDATE sessions SET claimed_until = now_ms() + p_claim_ttl::double precision, waits_for = p_waits_for
  WHERE key = p_key AND claim = p_claim AND (ends_at IS NULL OR ends_at > now_ms()) RETURNING 'renewed'
$body$;
`;

const adds = `
-- The run that waits is JSON: a string, or null for none. NULL means unchanged.
CREATE OR REPLACE FUNCTION session_append(p_key text, p_claim text, p_length text, p_entries text, p_context text,
  p_waits text, p_release text, p_ttl text) RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s sessions := session_lock(p_key);
  v_owned boolean := coalesce(s.claim = p_claim, false);
  v_keys text[] := ARRAY(SELECT item->>0 FROM json_array_elements(p_entries::json) item);
  v_others text[] := ARRAY(SELECT body FROM entries
    WHERE session = s.serial AND position >= p_length::bigint AND key <> ALL (v_keys) ORDER BY position);
  v_released boolean := v_owned AND p_release = 'true' AND cardinality(v_others) = 0;
BEGIN
  IF s.serial IS NULL THEN RETURN; END IF;
  IF v_owned THEN
    s.context := coalesce(p_context::integer, s.context);
    IF p_waits IS NOT NULL THEN s.waits := p_waits::json #>> '{}'; END IF;
    IF v_released THEN s.claim := NULL; END IF;
    s := session_add(s, p_entries, p_ttl);
  END IF;
  -- A count per key, because a join reads all entries of a session that is new to the planner.
  RETURN NEXT json_build_object('owned', v_owned, 'released', v_released, 'length', s.length, 'stored', v_owned OR
    NOT EXISTS (SELECT FROM unnest(v_keys) item
      WHERE (SELECT count(*) FROM entries WHERE session = s.serial AND key = item) = 0));
  RETURN QUERY SELECT unnest(v_others);
END $body$;

-- Adds the second list too if the post is new, and is a stop of a run that cannot take it up.
CREATE OR REPLACE FUNCTION session_post(p_key text, p_post text, p_run text, p_dropped text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s sessions := session_lock(p_key);
  v_length integer := s.length;
BEGIN
  IF s.serial IS NULL THEN RETURN; END IF;
  s := session_add(s, p_post, p_ttl);
  IF s.length > v_length AND p_run IS DISTINCT FROM (CASE WHEN s.claim IS NULL THEN s.waits ELSE s.claimed_run END) THEN
    s := session_add(s, p_dropped, p_ttl);
  END IF;
  RETURN NEXT json_build_object('added', s.length > v_length, 'holder', session_holder(s));
END $body$;
`;

const lists = `
CREATE OR REPLACE FUNCTION session_list(p_owner text, p_limit text, p_updated text, p_key text)
RETURNS SETOF text LANGUAGE sql AS $body$
  SELECT session_summary(sessions) FROM sessions
  WHERE md5(owner) = md5(p_owner) AND owner = p_owner AND length > 0 AND (ends_at IS NULL OR ends_at > now_ms())
    AND (p_updated IS NULL OR updated_at < p_updated::double precision
      OR updated_at = p_updated::double precision AND key > p_key COLLATE "C")
  ORDER BY updated_at DESC, key LIMIT p_limit::integer
$body$;

CREATE OR REPLACE FUNCTION session_details(p_key text, p_title text, p_data text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
BEGIN
  IF p_title IS NOT NULL OR p_data IS NOT NULL THEN
    UPDATE sessions SET title = coalesce(p_title, title), data = coalesce(p_data, data)
    WHERE key = p_key AND length > 0 AND (ends_at IS NULL OR ends_at > now_ms());
  END IF;
  RETURN QUERY SELECT session_summary(sessions) FROM sessions
  WHERE key = p_key AND length > 0 AND (ends_at IS NULL OR ends_at > now_ms());
END $body$;

CREATE OR REPLACE FUNCTION session_delete(p_key text) RETURNS SETOF text LANGUAGE sql AS $body$
  DELETE FROM sessions WHERE key = p_key RETURNING 'deleted'
$body$;
`;

export const sessionFunctions = [common, load, claims, adds, lists].join('');
