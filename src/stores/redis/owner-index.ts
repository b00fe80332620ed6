import { comparePositions, type ListPosition } from '../../state/session-list.js';
import { pairsIn, RedisScript, type RunScript, textsOf } from './connection.js';
import { removeScript } from './extension-index.js';
import { fromKeyPiece, toKeyPiece } from './keys.js';

/**
 * Lua script that adds a session to the index, or updates its time. An older time does not replace a newer one. ARGV:
 * time of the last entry, session, milliseconds until the index expires or 0.
 */
const writeScript = new RedisScript(`
local before = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2]) or 0)
if tonumber(ARGV[1]) > before then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) end
if ARGV[3] == '0' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return false
`);

/**
 * Lua script that reads sessions, latest first. ARGV: latest time, number of sessions. Replies sessions and their
 * times. Includes all sessions that have the same time as the last one.
 */
const readScript = new RedisScript(`
local count = redis.call('ZCOUNT', KEYS[1], ARGV[1], ARGV[1]) + ARGV[2]
local found = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], '-inf', 'WITHSCORES', 'LIMIT', 0, count)
local last = found[#found]
if last then
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], last, last)) do
    found[#found + 1] = member
    found[#found + 1] = last
  end
end
return found
`);

/**
 * An index of the sessions of one owner, sorted by the time of their last entry.
 *
 * In a cluster, no script can change the index and a session together. So an entry of the index may be outdated, or may
 * belong to a deleted session.
 */
export class RedisOwnerIndex {
  constructor(
    private readonly key: string,
    private readonly run: RunScript,
  ) {}

  /**
   * Adds a session, or updates its time. `ttl` is the time in milliseconds until the index expires, or '0' for never.
   */
  async write({ id, updatedAt }: ListPosition, ttl: string): Promise<void> {
    await this.run(writeScript, [this.key], [`${updatedAt}`, toKeyPiece(id), ttl]);
  }

  /** Returns the sessions after a position: at least `count` sessions, or all of them if they are fewer. */
  async read(after: ListPosition | undefined, count: number): Promise<ListPosition[]> {
    const start = after === undefined ? '+inf' : `${after.updatedAt}`;
    const reply = textsOf(await this.run(readScript, [this.key], [start, `${count}`]));
    const times = new Map(pairsIn(reply).map(([piece, time]) => [fromKeyPiece(piece), Number(time)]));
    const found = [...times].map(([id, updatedAt]) => ({ id, updatedAt }));
    return found.filter((it) => after === undefined || comparePositions(after, it) < 0).sort(comparePositions);
  }

  /** Removes a session, unless its time has changed since it was read. */
  async remove({ id, updatedAt }: ListPosition): Promise<void> {
    await this.run(removeScript, [this.key], [toKeyPiece(id), `${updatedAt}`]);
  }
}
