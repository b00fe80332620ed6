/** SQL functions of the state store. A function that changes a session first locks the row of the session. */
const common = `
-- Adds to the size of an extension.
CREATE OR REPLACE FUNCTION state_account(p_session bigint, p_extension text, p_name text, p_bytes bigint, p_keys bigint)
RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  UPDATE state_scopes SET bytes = bytes + p_bytes, keys = keys + p_keys
  WHERE session = p_session AND extension = p_extension;
  IF NOT FOUND THEN
    INSERT INTO state_scopes VALUES (p_session, p_extension, p_name, p_bytes, p_keys);
  ELSIF p_keys < 0 THEN
    DELETE FROM state_scopes WHERE session = p_session AND extension = p_extension AND keys <= 0;
  END IF;
END $body$;

-- Locks a session and removes its expired values. Returns NULL if there is no session, or if it has expired.
CREATE OR REPLACE FUNCTION state_lock(p_key text) RETURNS state_sessions LANGUAGE plpgsql AS $body$
DECLARE
  s state_sessions;
  gone record;
  v_now bigint;
  v_freed bigint := 0;
BEGIN
  SELECT * INTO s FROM state_sessions WHERE key = p_key FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  v_now := now_ms();
  IF s.ends_at <= v_now THEN
    DELETE FROM state_sessions WHERE serial = s.serial;
    RETURN NULL;
  END IF;
  FOR gone IN
    WITH expired AS (
      DELETE FROM state_values WHERE session = s.serial AND ends_at <= v_now RETURNING extension, bytes)
    SELECT extension, sum(bytes) AS bytes, count(*) AS keys FROM expired GROUP BY extension
  LOOP
    PERFORM state_account(s.serial, gone.extension, '', -gone.bytes::bigint, -gone.keys);
    v_freed := v_freed + gone.bytes;
  END LOOP;
  IF v_freed > 0 THEN
    UPDATE state_sessions SET bytes = bytes - v_freed WHERE serial = s.serial RETURNING * INTO s;
  END IF;
  RETURN s;
END $body$;

CREATE OR REPLACE FUNCTION state_tidy(p_session bigint) RETURNS void LANGUAGE sql AS $body$
  DELETE FROM state_sessions
  WHERE serial = p_session AND NOT EXISTS (SELECT FROM state_scopes WHERE session = p_session)
$body$;

CREATE OR REPLACE FUNCTION state_sweep() RETURNS void LANGUAGE sql AS $body$
  DELETE FROM state_sessions WHERE serial IN (
    SELECT serial FROM state_sessions WHERE ends_at <= now_ms() ORDER BY ends_at LIMIT 2 FOR UPDATE SKIP LOCKED)
$body$;

-- Returns when a value expires; NULL means with its session.
CREATE OR REPLACE FUNCTION state_end(p_now bigint, p_ttl text, p_session_ttl text) RETURNS bigint LANGUAGE sql AS $body$
  SELECT CASE WHEN p_ttl::bigint < p_session_ttl::bigint THEN p_now + p_ttl::bigint END
$body$;
`;

const uses = `
CREATE OR REPLACE FUNCTION state_get(p_session text, p_extension text, p_key text, p_ttl text, p_session_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s state_sessions := state_lock(p_session);
  v_now bigint := now_ms();
  v_value text;
BEGIN
  IF s.serial IS NULL THEN RETURN; END IF;
  UPDATE state_values SET used = s.uses, ends_at = state_end(v_now, p_ttl, p_session_ttl)
  WHERE session = s.serial AND extension = p_extension AND key = p_key RETURNING value INTO v_value;
  IF NOT FOUND THEN
    PERFORM state_tidy(s.serial);
    RETURN;
  END IF;
  UPDATE state_sessions SET uses = uses + 1, ends_at = v_now + p_session_ttl::bigint WHERE serial = s.serial;
  RETURN NEXT v_value;
END $body$;

CREATE OR REPLACE FUNCTION state_touch(p_session text, p_session_ttl text) RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE s state_sessions := state_lock(p_session);
BEGIN
  UPDATE state_sessions SET ends_at = now_ms() + p_session_ttl::bigint WHERE serial = s.serial;
  PERFORM state_tidy(s.serial);
END $body$;
`;

/**
 * SQL function that stores a value. Returns `stored`, `full` or `conflict`, then the bytes of the session before and
 * after, then the evicted keys with their bytes.
 *
 * `p_condition` is NULL, `absent` or `equal`. With `equal`, the value is stored only if the current value is
 * `p_expected`.
 */
const set = `
CREATE OR REPLACE FUNCTION state_set(p_session text, p_extension text, p_extension_name text, p_key text, p_name text,
  p_value text, p_bytes text, p_max_extension text, p_max_session text, p_max_keys text, p_ttl text, p_session_ttl text,
  p_condition text, p_expected text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s state_sessions;
  scope state_scopes;
  old state_values;
  item record;
  v_now bigint;
  v_status text := 'stored';
  v_bytes bigint := p_bytes;
  v_keys bigint;
  v_room bigint;
  v_evicted text[] := '{}';
  v_freed bigint := 0;
BEGIN
  LOOP
    s := state_lock(p_session);
    EXIT WHEN s.serial IS NOT NULL;
    INSERT INTO state_sessions (key, ends_at) VALUES (p_session, now_ms() + p_session_ttl::bigint)
    ON CONFLICT (key) DO NOTHING;
  END LOOP;
  v_now := now_ms();
  SELECT * INTO scope FROM state_scopes WHERE session = s.serial AND extension = p_extension;
  SELECT * INTO old FROM state_values WHERE session = s.serial AND extension = p_extension AND key = p_key;
  v_room := least(p_max_extension::bigint, p_max_session::bigint - s.bytes + coalesce(scope.bytes, 0));
  IF p_condition = 'absent' AND old.session IS NOT NULL
    OR p_condition = 'equal' AND old.value IS DISTINCT FROM p_expected THEN
    v_status := 'conflict';
  ELSIF v_bytes > v_room THEN
    v_status := 'full';
  END IF;
  IF v_status <> 'stored' THEN
    PERFORM state_tidy(s.serial);
    RETURN QUERY VALUES (v_status), (s.bytes::text), (s.bytes::text);
    RETURN;
  END IF;

  v_keys := coalesce(scope.keys, 0) + CASE WHEN old.session IS NULL THEN 1 ELSE 0 END;
  v_freed := coalesce(old.bytes, 0);
  IF coalesce(scope.bytes, 0) - v_freed + v_bytes > v_room OR v_keys > p_max_keys::bigint THEN
    FOR item IN
      SELECT key, name, bytes FROM state_values
      WHERE session = s.serial AND extension = p_extension AND key <> p_key ORDER BY used
    LOOP
      EXIT WHEN coalesce(scope.bytes, 0) - v_freed + v_bytes <= v_room AND v_keys <= p_max_keys::bigint;
      DELETE FROM state_values WHERE session = s.serial AND extension = p_extension AND key = item.key;
      v_freed := v_freed + item.bytes;
      v_keys := v_keys - 1;
      v_evicted := v_evicted || item.name || item.bytes::text;
    END LOOP;
  END IF;
  INSERT INTO state_values VALUES (s.serial, p_extension, p_key, p_name, p_value, v_bytes, s.uses,
    state_end(v_now, p_ttl, p_session_ttl))
  ON CONFLICT (session, extension, key)
  DO UPDATE SET value = EXCLUDED.value, bytes = EXCLUDED.bytes, used = EXCLUDED.used, ends_at = EXCLUDED.ends_at;
  PERFORM state_account(s.serial, p_extension, p_extension_name, v_bytes - v_freed, v_keys - coalesce(scope.keys, 0));
  UPDATE state_sessions SET bytes = bytes + v_bytes - v_freed, uses = uses + 1, ends_at = v_now + p_session_ttl::bigint
  WHERE serial = s.serial;
  PERFORM state_sweep();
  RETURN QUERY VALUES ('stored'), (s.bytes::text), ((s.bytes + v_bytes - v_freed)::text);
  RETURN QUERY SELECT unnest(v_evicted);
END $body$;
`;

const clears = `
CREATE OR REPLACE FUNCTION state_clear(p_session text, p_extension text, p_key text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s state_sessions := state_lock(p_session);
  v_bytes bigint;
  v_keys bigint;
BEGIN
  WITH gone AS (
    DELETE FROM state_values
    WHERE session = s.serial AND extension = p_extension AND (p_key IS NULL OR key = p_key) RETURNING bytes)
  SELECT sum(bytes), count(*) INTO v_bytes, v_keys FROM gone;
  IF v_keys > 0 THEN
    PERFORM state_account(s.serial, p_extension, '', -v_bytes, -v_keys);
    UPDATE state_sessions SET bytes = bytes - v_bytes WHERE serial = s.serial;
  END IF;
  PERFORM state_tidy(s.serial);
  RETURN NEXT v_keys::text;
END $body$;

CREATE OR REPLACE FUNCTION state_clear_session(p_session text) RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  s state_sessions := state_lock(p_session);
BEGIN
  RETURN QUERY SELECT count(*)::text FROM state_values WHERE session = s.serial;
  DELETE FROM state_sessions WHERE serial = s.serial;
END $body$;

CREATE OR REPLACE FUNCTION state_extension_sessions(p_extension text) RETURNS SETOF text LANGUAGE sql AS $body$
  SELECT state_sessions.key FROM state_scopes JOIN state_sessions ON serial = session WHERE extension = p_extension
$body$;

CREATE OR REPLACE FUNCTION state_stats(p_session text) RETURNS SETOF text LANGUAGE sql AS $body$
  SELECT json_build_array(scope.name, sum(item.bytes))::text
  FROM state_sessions head
  JOIN state_scopes scope ON scope.session = head.serial
  JOIN state_values item ON item.session = head.serial AND item.extension = scope.extension
  WHERE head.key = p_session AND head.ends_at > now_ms() AND (item.ends_at IS NULL OR item.ends_at > now_ms())
  GROUP BY scope.extension, scope.name
$body$;
`;

export const stateFunctions = [common, uses, set, clears].join('');
