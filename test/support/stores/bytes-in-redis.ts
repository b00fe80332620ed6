import type { NodeRedisClient } from '../../../src/stores/redis/redis.js';

const script = `
local bytes = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  if key:find(':value:', 1, true) then bytes = bytes + redis.call('STRLEN', key) end
  if key:find(':session-long', 1, true) then
    for _, value in ipairs(redis.call('HVALS', key)) do bytes = bytes + #value end
  end
end
return bytes`;

/** The bytes of all values of state that are stored at one moment, by looking at the values. */
export async function bytesInRedis(client: NodeRedisClient): Promise<number> {
  return Number(await client.sendCommand(['EVAL', script, '0']));
}
