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

/** Returns the total size in bytes of all stored state values, measured at the values themselves. */
export async function bytesInRedis(client: NodeRedisClient): Promise<number> {
  return Number(await client.sendCommand(['EVAL', script, '0']));
}
