import type { JsonValue } from '../../../internal/json.js';
import { encodeEvents, readRunLog } from '../../../state/run-log/read-run-log.js';
import type { RunLog, RunLogAnswer, RunLogPage, RunLogQuery, RunOutcome } from '../../../state/run-log/run-log.js';
import { RedisChannels } from '../channels.js';
import { keyPrefixOf } from '../client.js';
import { deleteScript, RedisConnection, type RedisScript, textsOf } from '../connection.js';
import { RedisKeys } from '../keys.js';
import { type RedisRunLogOptions, resolveRunLogOptions } from '../options.js';
import { appendScript, closeScript, readScript, touchScript } from './script.js';

/**
 * Stores the events of runs in Redis 6 or newer, so that any process can follow a run. Each log is a Redis stream. Each
 * call is one atomic script that uses the clock of Redis. Redis removes expired logs.
 *
 * While a read waits for new events, it repeats its script. Rejects with a RedisUnavailableError if Redis does not
 * answer within `timeoutMs`.
 *
 * @example
 * const log = new RedisRunLog({ client: await createClient({ url }).connect() });
 */
export class RedisRunLog implements RunLog {
  private readonly settings: ReturnType<typeof resolveRunLogOptions>;
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;
  private readonly channels: RedisChannels | undefined;

  constructor(options: RedisRunLogOptions) {
    const settings = resolveRunLogOptions(options);
    const { client, prefix, timeoutMs, subscriber } = settings;
    this.settings = settings;
    this.connection = new RedisConnection(client, timeoutMs);
    this.keys = new RedisKeys(prefix, keyPrefixOf(client));
    this.channels = subscriber && new RedisChannels(subscriber);
  }

  async append(run: string, first: number, events: readonly JsonValue[]): Promise<RunLogAnswer> {
    const { maxBytes, ttlMs } = this.settings;
    const bodies = encodeEvents(first, events);
    const reply = await this.send(appendScript, run, [first, maxBytes, ttlMs, this.channel(run), ...bodies]);
    const [appended, end, unwatchedMs, outcome] = textsOf(reply);
    return {
      appended: appended === '1',
      end: Number(end),
      unwatchedMs: Number(unwatchedMs),
      ...(outcome && { outcome: outcome as RunOutcome }),
    };
  }

  read(run: string, from: number, query?: RunLogQuery): Promise<RunLogPage | undefined> {
    const look = async (limit: number) => {
      const reply = await this.send(readScript, run, [from, limit]);
      if (reply === null) return undefined;
      const [first, end, outcome, ...bodies] = textsOf(reply);
      return { first: Number(first), end: Number(end), outcome: (outcome || undefined) as RunOutcome, bodies };
    };
    const { channels } = this;
    const watch = channels && ((listener: () => void) => channels.watch(this.keys.events(run), listener));
    return readRunLog(run, { ...query, from }, { look, watch, pollMs: this.settings.pollMs });
  }

  async touch(run: string): Promise<void> {
    await this.send(touchScript, run, []);
  }

  async close(run: string, outcome: RunOutcome): Promise<RunOutcome> {
    const reply = await this.send(closeScript, run, [outcome, this.settings.ttlMs, this.channel(run)]);
    return textsOf([reply])[0] as RunOutcome;
  }

  async delete(run: string): Promise<void> {
    await this.send(deleteScript, run, []);
  }

  private channel(run: string): string {
    return this.channels === undefined ? '' : this.keys.events(run);
  }

  private send(script: RedisScript, run: string, args: readonly (string | number)[]): Promise<unknown> {
    const texts = args.map((arg) => `${arg}`);
    return this.connection.begin()(script, this.keys.runLog(run), texts);
  }
}
