import { runLogFunctions, runLogTables } from './run-log-functions.js';
import { sessionFunctions } from './session-functions.js';
import { stateFunctions } from './state-functions.js';
import { sessionEntries, sessionLength, sessionTables } from './tables.js';

/**
 * The SQL that upgrades the schema from each version to the next. A released step never changes, because databases of
 * any version must reach the same schema.
 */
export const steps: readonly string[] = [sessionTables, sessionLength, sessionEntries, runLogTables];

/**
 * Returns one statement that creates the schema, or upgrades it to version `target`. A single statement is one
 * transaction, even if the client is a pool.
 */
export function migrationSql(schema: string, target: number = steps.length): string {
  const upgrades = steps
    .slice(0, target)
    .map((step, index) => `IF v_version < ${index + 1} THEN ${step} END IF;`)
    .join('\n');
  // Only the newest version has functions.
  const functions = target === steps.length ? `${sessionFunctions}${stateFunctions}${runLogFunctions}` : '';
  return `DO $keelson$
DECLARE v_version integer := 0;
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('keelson schema ${schema}', 0));
IF to_regclass('"${schema}".versions') IS NOT NULL THEN
  SELECT max(version) INTO v_version FROM "${schema}".versions;
END IF;
IF v_version >= ${target} THEN RETURN; END IF;
IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
PERFORM set_config('search_path', '"${schema}"', true);
IF v_version = 0 THEN CREATE TABLE versions (version integer PRIMARY KEY, migrated_at timestamptz DEFAULT now()); END IF;
${upgrades}
${functions.replaceAll(' AS $body$', ` SET search_path = "${schema}", pg_temp AS $body$`)}
INSERT INTO versions (version) VALUES (${target});
END $keelson$`;
}
