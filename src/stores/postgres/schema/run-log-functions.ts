/**
 * Version 4 of the schema: logs of runs, with one row per event. The stored events have the offsets from `first_offset`
 * to before `end_offset`, without gaps.
 */
export const runLogTables = `
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

/**
 * SQL functions of the run log. A log lives up to 1 % longer than its lifetime, so that few appends have to change the
 * index of expiry times. Creating a log also removes up to two expired logs.
 */
const common = `
CREATE OR REPLACE FUNCTION run_log_end(p_end bigint, p_ttl text) RETURNS bigint LANGUAGE sql AS $body$
  SELECT CASE WHEN p_end < now_ms() + p_ttl::bigint THEN now_ms() + p_ttl::bigint * 101 / 100 ELSE p_end END
$body$;

-- Locks a log. Makes an unknown one if the lifetime is not NULL.
CREATE OR REPLACE FUNCTION run_log_lock(p_key text, p_ttl text) RETURNS run_logs LANGUAGE plpgsql AS $body$
DECLARE l run_logs;
BEGIN
  LOOP
    DELETE FROM run_logs WHERE key = p_key AND ends_at <= now_ms();
    SELECT * INTO l FROM run_logs WHERE key = p_key FOR UPDATE;
    IF FOUND OR p_ttl IS NULL THEN RETURN l; END IF;
    DELETE FROM run_logs WHERE serial IN (
      SELECT serial FROM run_logs WHERE ends_at <= now_ms() ORDER BY ends_at LIMIT 2 FOR UPDATE SKIP LOCKED);
    INSERT INTO run_logs (key, watched_at, ends_at) VALUES (p_key, now_ms(), run_log_end(0, p_ttl))
    ON CONFLICT (key) DO NOTHING;
  END LOOP;
END $body$;
`;

const append = `
-- Adds the texts of a JSON array. Returns how the log stands as JSON.
CREATE OR REPLACE FUNCTION run_log_append(p_key text, p_first text, p_events text, p_max_bytes text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE
  l run_logs := run_log_lock(p_key, CASE WHEN p_first = '0' THEN p_ttl END);
  v_first bigint := p_first;
  v_events text[] := ARRAY(SELECT json_array_elements_text(p_events::json));
  v_known bigint := least(l.end_offset - v_first, cardinality(v_events));
  v_appended boolean := v_known >= 0 AND (v_known = cardinality(v_events) OR l.outcome IS NULL)
    AND (v_known = 0 OR v_first + v_known > l.first_offset)
    AND NOT EXISTS (SELECT FROM run_events WHERE log = l.serial AND position >= v_first AND position < v_first + v_known
      AND body <> v_events[(position - v_first + 1)::integer]);
  item record;
BEGIN
  IF l.serial IS NULL THEN
    RETURN NEXT json_build_object('appended', false, 'end', 0, 'unwatchedMs', 0);
    RETURN;
  END IF;
  IF v_appended AND l.outcome IS NULL THEN
    FOR item IN SELECT body, at FROM unnest(v_events) WITH ORDINALITY AS given (body, at) WHERE at > v_known LOOP
      INSERT INTO run_events VALUES (l.serial, l.end_offset, item.body);
      l.end_offset := l.end_offset + 1;
      l.bytes := l.bytes + octet_length(item.body);
    END LOOP;
    v_first := l.first_offset;
    -- A few events at a time, because the planner sorts all events of a log that is new to it.
    WHILE l.bytes > p_max_bytes::bigint AND l.first_offset < l.end_offset - 1 LOOP
      FOR item IN SELECT octet_length(body) AS bytes FROM run_events
        WHERE log = l.serial AND position >= l.first_offset AND position < least(l.first_offset + 50, l.end_offset - 1)
        ORDER BY position
      LOOP
        EXIT WHEN l.bytes <= p_max_bytes::bigint;
        l.first_offset := l.first_offset + 1;
        l.bytes := l.bytes - item.bytes;
      END LOOP;
      EXIT WHEN NOT FOUND;
    END LOOP;
    DELETE FROM run_events WHERE log = l.serial AND position >= v_first AND position < l.first_offset;
    UPDATE run_logs SET first_offset = l.first_offset, end_offset = l.end_offset, bytes = l.bytes,
      ends_at = run_log_end(l.ends_at, p_ttl)
    WHERE serial = l.serial;
  END IF;
  RETURN NEXT json_build_object('appended', v_appended, 'end', l.end_offset, 'unwatchedMs', now_ms() - l.watched_at,
    'outcome', l.outcome);
END $body$;
`;

const others = `
CREATE OR REPLACE FUNCTION run_log_read(p_key text, p_from text, p_limit text) RETURNS SETOF text LANGUAGE sql AS $body$
  WITH head AS (SELECT * FROM run_logs WHERE key = p_key AND ends_at > now_ms())
  SELECT reply FROM (
    SELECT -1 AS at, json_build_array(first_offset, end_offset, outcome)::text AS reply FROM head
    UNION ALL
    SELECT position, body FROM head JOIN run_events ON log = serial AND first_offset <= p_from::bigint
      AND position >= p_from::bigint AND position < p_from::bigint + p_limit::bigint
  ) found ORDER BY at
$body$;

CREATE OR REPLACE FUNCTION run_log_touch(p_key text) RETURNS SETOF text LANGUAGE sql AS $body$
  UPDATE run_logs SET watched_at = now_ms() WHERE key = p_key AND ends_at > now_ms() RETURNING 'touched'
$body$;

CREATE OR REPLACE FUNCTION run_log_close(p_key text, p_outcome text, p_ttl text)
RETURNS SETOF text LANGUAGE plpgsql AS $body$
DECLARE l run_logs := run_log_lock(p_key, p_ttl);
BEGIN
  UPDATE run_logs SET outcome = p_outcome, ends_at = run_log_end(ends_at, p_ttl)
  WHERE serial = l.serial AND outcome IS NULL;
  RETURN NEXT coalesce(l.outcome, p_outcome);
END $body$;

CREATE OR REPLACE FUNCTION run_log_delete(p_key text) RETURNS SETOF text LANGUAGE sql AS $body$
  DELETE FROM run_logs WHERE key = p_key RETURNING 'deleted'
$body$;
`;

export const runLogFunctions = [common, append, others].join('');
