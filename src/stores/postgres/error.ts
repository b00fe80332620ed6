import { describeError, KeelsonError } from '../../errors.js';

/**
 * Classes of SQLSTATE for transient errors, after which a retry may succeed: connection, transaction rollback,
 * insufficient resources, locks, operator intervention.
 */
const PASSING = /^(08|40|53|55|57)/;
/** The SQLSTATE of a read-only server, such as a standby, which may be promoted later. */
const READ_ONLY = '25006';
/** The SQLSTATEs of an unknown schema, table, column or function. */
const NOT_MIGRATED = ['3F000', '42P01', '42703', '42883'];

/**
 * PostgreSQL could not be reached, did not answer in time, or refused the statement. `cause` is the error of the client, or
 * a TimeoutExceededError. A write may still have taken effect; read the session to find out.
 */
export class PostgresUnavailableError extends KeelsonError {
  readonly code = 'ERR_POSTGRES_UNAVAILABLE';
  /** The SQLSTATE code from the server. Undefined if the server did not answer. */
  readonly sqlState: string | undefined;
  /** True if a later call may succeed. */
  readonly retryable: boolean;

  constructor(cause: unknown) {
    const why = describeError(cause).replace(/\.$/, '');
    super(
      `PostgreSQL did not run a statement of the store (${why}). Check the server and the permissions of the database user.`,
      {
        cause,
      },
    );
    const sqlState = sqlStateOf(cause);
    this.sqlState = sqlState;
    this.retryable = sqlState === undefined || sqlState === READ_ONLY || PASSING.test(sqlState);
  }
}

/**
 * The PostgreSQL schema of the stores is missing or older than this version of Keelson. Nothing was read or changed.
 */
export class PostgresSchemaError extends KeelsonError {
  readonly code = 'ERR_POSTGRES_SCHEMA';
  readonly schema: string;

  constructor(schema: string, cause: unknown) {
    super(`The schema "${schema}" is missing or too old (${describeError(cause)}). Call \`migrate(client)\` first.`, {
      cause,
    });
    this.schema = schema;
  }
}

/** The stored rows of a session are damaged: entries are missing, or an entry is not JSON. */
export class PostgresDataError extends KeelsonError {
  readonly code = 'ERR_POSTGRES_DATA';
  readonly session: string;

  constructor(session: string, problem: string, cause?: unknown) {
    super(`Session "${session}" cannot be read: ${problem}. Repair its rows, or delete the session.`, { cause });
    this.session = session;
  }
}

/**
 * Converts an error of the client. Returns a PostgresSchemaError if the schema is missing or too old, otherwise a
 * PostgresUnavailableError.
 */
export function postgresFailure(schema: string, cause: unknown): KeelsonError {
  const isMissing = NOT_MIGRATED.includes(sqlStateOf(cause) ?? '');
  return isMissing ? new PostgresSchemaError(schema, cause) : new PostgresUnavailableError(cause);
}

/**
 * Returns true if the server rolled a statement back because of concurrent statements. The statement can be repeated.
 */
export function isRolledBack(error: unknown): boolean {
  return sqlStateOf(error)?.startsWith('40') ?? false;
}

/** Returns true if the server cancelled a statement. The statement then had no effect. */
export function isCancelled(error: unknown): boolean {
  return sqlStateOf(error) === '57014';
}

/** Returns the SQLSTATE of an error. Ignores codes of socket errors, such as `ECONNREFUSED`. */
function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE' ? code : undefined;
}
