import type { JsonValue } from '../../internal/json.js';
import { resolveRunLogLimits } from '../../state/run-log/limits.js';
import { encodeEvents, readRunLog } from '../../state/run-log/read-run-log.js';
import type { RunLog, RunLogAnswer, RunLogPage, RunLogQuery, RunOutcome } from '../../state/run-log/run-log.js';
import { toSqlKey } from '../sql-text.js';
import { PostgresConnection } from './connection.js';
import { type PostgresRunLogOptions, resolveStoreOptions, runLogRules } from './options.js';

/**
 * Stores the events of runs in PostgreSQL, so that any process can follow a run. Each event is a row. Each call is one
 * transaction in one statement, and uses the clock of the server.
 *
 * While a read waits for new events, it repeats its statement. Call `migrate` first. Rejects with a
 * PostgresUnavailableError if the server does not answer within `timeoutMs`, or refuses the statement.
 *
 * @example
 * await migrate(pool);
 * const log = new PostgresRunLog({ client: pool });
 */
export class PostgresRunLog implements RunLog {
  private readonly connection: PostgresConnection;
  private readonly limits: ReturnType<typeof resolveRunLogLimits>;
  private readonly pollMs: number;

  constructor(options: PostgresRunLogOptions) {
    const { maxBytes, ttlMs, pollMs = 200 } = options;
    this.connection = new PostgresConnection(resolveStoreOptions(options, runLogRules));
    this.limits = resolveRunLogLimits({ maxBytes, ttlMs });
    this.pollMs = pollMs;
  }

  async append(run: string, first: number, events: readonly JsonValue[]): Promise<RunLogAnswer> {
    const { maxBytes, ttlMs } = this.limits;
    const texts = JSON.stringify(encodeEvents(first, events));
    const [reply = ''] = await this.call('append', run, [first, texts, maxBytes, ttlMs]);
    const { outcome, ...answer } = JSON.parse(reply);
    return { ...answer, ...(outcome && { outcome }) };
  }

  read(run: string, from: number, query?: RunLogQuery): Promise<RunLogPage | undefined> {
    const look = async (limit: number) => {
      const [head, ...bodies] = await this.call('read', run, [from, limit]);
      if (head === undefined) return undefined;
      const [first, end, outcome] = JSON.parse(head);
      return { first, end, outcome: outcome ?? undefined, bodies };
    };
    return readRunLog(run, { ...query, from }, { look, pollMs: this.pollMs });
  }

  async touch(run: string): Promise<void> {
    await this.call('touch', run, []);
  }

  async close(run: string, outcome: RunOutcome): Promise<RunOutcome> {
    const [held] = await this.call('close', run, [outcome, this.limits.ttlMs]);
    return held as RunOutcome;
  }

  async delete(run: string): Promise<void> {
    await this.call('delete', run, []);
  }

  private call(name: string, run: string, args: readonly (string | number)[]): Promise<string[]> {
    return this.connection.call(`run_log_${name}`, [toSqlKey(run), ...args]);
  }
}
