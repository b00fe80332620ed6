import { runLogFunctions } from './run-log-functions.js';
import { sessionFunctions } from './session-functions.js';
import { stateFunctions } from './state-functions.js';
import { tables } from './tables.js';

/** The version of the schema. Earlier versions were never released, and a released version never changes. */
export const VERSION = 4;

/** Returns one statement that creates the schema. One statement is one transaction, also for a client that is a pool. */
export function migrationSql(schema: string): string {
  const functions = `${sessionFunctions}${stateFunctions}${runLogFunctions}`;
  return `DO $keelson$
DECLARE v_version integer := 0;
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('keelson schema ${schema}', 0));
IF to_regclass('"${schema}".versions') IS NOT NULL THEN
  SELECT max(version) INTO v_version FROM "${schema}".versions;
END IF;
IF v_version >= ${VERSION} THEN RETURN; END IF;
IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
PERFORM set_config('search_path', '"${schema}"', true);
CREATE TABLE versions (version integer PRIMARY KEY, migrated_at timestamptz DEFAULT now());
${tables}
${functions.replaceAll(' AS $body$', ` SET search_path = "${schema}", pg_temp AS $body$`)}
INSERT INTO versions (version) VALUES (${VERSION});
END $keelson$`;
}
