import { invalidOption } from '../../internal/options/validate.js';

/**
 * A `Pool`, a `PoolClient` or a connected `Client` of the package `pg`, version 8. With a pool, the calls of a store
 * can run in parallel.
 */
export interface PgClient {
  /** Runs one statement. Resolves to its rows. */
  query(statement: PgStatement): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A statement in the form that the package `pg` accepts. */
interface PgStatement {
  readonly text: string;
  values?: unknown[];
  /**
   * Milliseconds after which `pg` stops waiting for the result. If the statement is still in the queue, `pg` discards
   * it.
   */
  readonly query_timeout?: number;
}

/** The `sql` function of the package `postgres`, version 3. */
export interface PostgresJsClient {
  /** Runs one statement. Resolves to its rows. */
  unsafe(text: string, values?: (string | null)[]): PostgresJsQuery;
}

/** A statement that the package `postgres` runs. Resolves to its rows. */
interface PostgresJsQuery extends PromiseLike<readonly unknown[]> {
  /** Cancels the statement. */
  cancel(): void;
}

/** A client of the package `pg` or `postgres`. The stores attach no listeners to it and never close it. */
export type PostgresClient = PgClient | PostgresJsClient;

/** A statement with the time limit of the store call that sends it. */
interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs one statement, and resolves to its rows. At the time limit of the call, discards a statement that is still in
 * the queue of the client.
 */
export type RunStatement = (statement: Statement) => Promise<readonly unknown[]>;

/** Returns a function that runs statements through a client of `pg` or `postgres`. */
export function runStatementOf(client: PostgresClient): RunStatement {
  if (has(client, 'unsafe')) return (statement) => runWithPostgresJs(client as PostgresJsClient, statement);
  if (has(client, 'query')) return (statement) => runWithPg(client as PgClient, statement);
  throw invalidOption('client', 'a client of pg or postgres', client);
}

async function runWithPg(client: PgClient, { text, values, timeoutMs }: Statement): Promise<readonly unknown[]> {
  // Without `values`, `pg` uses its simple query protocol.
  const { rows } = await client.query({
    text,
    query_timeout: Math.max(1, timeoutMs),
    ...(values.length > 0 && { values: [...values] }),
  });
  return rows;
}

async function runWithPostgresJs(client: PostgresJsClient, statement: Statement): Promise<readonly unknown[]> {
  const { text, values, signal } = statement;
  const query = client.unsafe(text, [...values]);
  const cancel = () => query.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await query;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function has(client: unknown, method: string): boolean {
  if (client === null || (typeof client !== 'object' && typeof client !== 'function')) return false;
  return typeof (client as Readonly<Record<string, unknown>>)[method] === 'function';
}
