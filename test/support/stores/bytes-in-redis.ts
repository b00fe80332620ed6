import type { NodeRedisClient } from '../../../src/stores/redis/redis.js';

const script = `
local bytes = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  if key:find(':value:', 1, true) then bytes = bytes + redis.call('STRLEN', key) + #key:match('[^:]*$') end
  if key:find(':session-long', 1, true) then
    for at, text in ipairs(redis.call('HGETALL', key)) do
      bytes = bytes + (at % 2 == 1 and #text:match('[^:]*$') or #text)
    end
  end
end
return bytes`;

/** Returns the total size in bytes of all stored state keys and values, measured at the stored data. Keys must need no encoding. */
export async function bytesInRedis(client: NodeRedisClient): Promise<number> {
  return Number(await client.sendCommand(['EVAL', script, '0']));
}
