import { pairsIn, RedisScript, type RunScript, textsOf } from './connection.js';

const readScript = new RedisScript(`return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')`);

/** Each write increases the score of an entry, so that `removeScript` recognises an entry that was written again. */
const writeScript = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local before = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
local score = math.max(tonumber(ARGV[2]), before + 1 / 1024)
redis.call('ZADD', KEYS[1], string.format('%.17g', score), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.ceil(tonumber(last))))
return false
`);

/** ARGV: member, score. Removes a member of an index, unless its score has changed. */
export const removeScript = new RedisScript(`
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
return false
`);

/** An index entry of an extension: a session, and the score that it had when the index was read. */
export interface IndexedSession {
  readonly session: string;
  readonly score: string;
}

/**
 * Lists the sessions in which an extension may have state. In a cluster, the index and the sessions are in different
 * slots, so no script can change both.
 */
export class RedisExtensionIndex {
  constructor(private readonly key: string) {}

  async read(run: RunScript): Promise<IndexedSession[]> {
    const found = pairsIn(textsOf(await run(readScript, [this.key], [])));
    return found.map(([session, score]) => ({ session, score }));
  }

  /** Keeps the session in the index until `end`, in milliseconds since the epoch. */
  async write(run: RunScript, session: string, end: string): Promise<void> {
    await run(writeScript, [this.key], [session, end]);
  }

  /** Removes an entry, unless it was written again since it was read. */
  async remove(run: RunScript, { session, score }: IndexedSession): Promise<void> {
    await run(removeScript, [this.key], [session, score]);
  }
}
