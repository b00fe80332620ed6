type Send = (args: string[]) => Promise<unknown>;

/** Sends commands to a Redis whose clock a test can move. */
export interface MovableRedis {
  readonly send: Send;
  /** Moves the clock, and removes the keys that have expired. */
  pass(ms: number): Promise<void>;
}

/** Stands for `redis.call` in a script: the scripts of the stores take the time from Redis, and set expiry times in it. */
const shifted = (offset: number, frozenAt?: number) => `
local function shifted(command, ...)
  local key, at = ...
  if command == 'PEXPIREAT' then return redis.call(command, key, string.format('%.0f', at - ${offset})) end
  if command ~= 'TIME' then return redis.call(command, ...) end
  local time = ${frozenAt === undefined ? "redis.call('TIME')" : `{ 0, ${frozenAt} * 1000 }`}
  return { time[1], time[2] + ${offset} * 1000 }
end
`;

const age = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, math.max(0, left - ARGV[1])) end
end
return false`;

/**
 * Lets the scripts of the stores, and the keys of the server, see a clock that a test can move. With `frozenAt`, the clock
 * of the scripts begins at that time, and stands still until it is moved.
 */
export function movableRedis(send: Send, frozenAt?: number): MovableRedis {
  let offset = 0;
  return {
    async send([command = '', script = '', ...rest]) {
      // The store then sends the text of the script.
      if (command === 'EVALSHA') throw new Error('NOSCRIPT');
      if (command !== 'EVAL') return send([command, script, ...rest]);
      return send([command, shifted(offset, frozenAt) + script.replaceAll('redis.call', 'shifted'), ...rest]);
    },
    async pass(ms) {
      const whole = Math.ceil(ms);
      offset += whole;
      await send(['EVAL', age, '0', `${whole}`]);
    },
  };
}
