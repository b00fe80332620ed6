import { pairsIn, RedisScript, type RunScript, textsOf } from './connection.js';

const readScript = new RedisScript(`return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')`);

/**
 * Lua script that adds a session to the index. ARGV: session, time until which the index contains it. Each write
 * increases the score of the session, so that `removeScript` does not remove a session that was added again.
 */
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

/** Lua script that removes a member of an index, unless its score has changed. ARGV: member, score. */
export const removeScript = new RedisScript(`
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
return false
`);

/** A session in the index of an extension, and the score that it had when the index was read. */
export interface IndexedSession {
  readonly session: string;
  readonly score: string;
}

/**
 * An index of the sessions in which an extension may have state. In a cluster, no script can change the index and a
 * session together. So the index may contain a session in which the extension has no state.
 */
export class RedisExtensionIndex {
  constructor(private readonly key: string) {}

  async read(run: RunScript): Promise<IndexedSession[]> {
    const found = pairsIn(textsOf(await run(readScript, [this.key], [])));
    return found.map(([session, score]) => ({ session, score }));
  }

  /** Adds a session to the index until the time `end`, in milliseconds since the epoch. */
  async write(run: RunScript, session: string, end: string): Promise<void> {
    await run(writeScript, [this.key], [session, end]);
  }

  /** Removes a session from the index, unless it was added again since the index was read. */
  async remove(run: RunScript, { session, score }: IndexedSession): Promise<void> {
    await run(removeScript, [this.key], [session, score]);
  }
}
