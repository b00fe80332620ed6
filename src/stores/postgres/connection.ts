import { CallLimit } from '../call-limit.js';
import { type PostgresClient, type RunStatement, runStatementOf } from './client.js';
import { isCancelled, isRolledBack, postgresFailure } from './error.js';

/** The client, the schema that contains the functions, and the time limit of a call in milliseconds. */
export interface ConnectionSettings {
  readonly client: PostgresClient;
  readonly schema: string;
  readonly timeoutMs: number;
}

/** An argument of a PostgreSQL function. Undefined becomes NULL. */
type Argument = string | number | boolean | null | undefined;

/** Calls the PostgreSQL functions that the stores use. Each call is one statement, which is one transaction. */
export class PostgresConnection {
  private readonly run: RunStatement;

  constructor(private readonly settings: ConnectionSettings) {
    this.run = runStatementOf(settings.client);
  }

  /**
   * Calls a function of the schema with arguments of type `text`. Returns its rows. Rejects with a
   * PostgresUnavailableError or a PostgresSchemaError if the call fails or exceeds its time limit.
   */
  async call(name: string, args: readonly Argument[]): Promise<string[]> {
    const given = args.map((_arg, index) => `$${index + 1}::text`).join(', ');
    const values = args.map((arg) => (arg === undefined || arg === null ? null : `${arg}`));
    const rows = await this.send(`SELECT reply FROM "${this.settings.schema}".${name}(${given}) AS reply`, values);
    return rows.map((row) => (row as { readonly reply: string }).reply);
  }

  /**
   * Sends one statement and returns its rows. Retries it within the time limit if the server rolled it back because of
   * a concurrent transaction.
   *
   * Retries a cancelled statement once. The request to cancel an earlier statement may arrive late and cancel this one.
   */
  async send(text: string, values: readonly (string | null)[]): Promise<readonly unknown[]> {
    const { schema, timeoutMs } = this.settings;
    const limit = new CallLimit('PostgreSQL', timeoutMs);
    let wasCancelled = false;
    for (;;) {
      try {
        return await limit.within((signal) => this.run({ text, values, timeoutMs: limit.leftMs, signal }));
      } catch (error) {
        const isRepeated = isRolledBack(error) || (isCancelled(error) && !wasCancelled);
        if (!isRepeated || limit.leftMs === 0) throw postgresFailure(schema, error);
        wasCancelled ||= isCancelled(error);
      }
    }
  }
}
