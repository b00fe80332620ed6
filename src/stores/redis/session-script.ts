import { RedisScript } from './connection.js';

/**
 * The common start of all session scripts. A session has two keys. `head` is a hash with the revision, the number of
 * messages, and the id of the last save. `messages` is a list of messages as JSON.
 */
const common = `
local head, messages = KEYS[1], KEYS[2]
local call = redis.call

-- Sets the same expiry on both keys.
local function live(ttl)
  for _, key in ipairs(KEYS) do
    if ttl == '0' then call('PERSIST', key) else call('PEXPIRE', key, ttl) end
  end
end
`;

/** ARGV: ttl. Replies nil, or the revision, the expected number of messages, and the messages. */
export const loadScript = new RedisScript(`${common}
local found = call('HMGET', head, 'revision', 'length')
if not found[1] then return false end
live(ARGV[1])
return { found[1], found[2], call('LRANGE', messages, 0, -1) }
`);

/**
 * ARGV: ttl, expected revision, id of this save, number of messages to keep, and the messages to append. Replies the new
 * revision, nil if the stored revision is a different one, or 0 if messages are missing. A save that a client sends twice
 * counts once.
 */
export const saveScript = new RedisScript(`${common}
local expected, keep = tonumber(ARGV[2]), tonumber(ARGV[4])
local found = call('HMGET', head, 'revision', 'length', 'save')
local revision, length = tonumber(found[1] or 0), tonumber(found[2] or 0)
if revision == expected + 1 and found[3] == ARGV[3] then return revision end
if revision ~= expected then return false end
if revision > 0 and call('LLEN', messages) ~= length or keep % 1 ~= 0 or keep < 0 or keep > length then return 0 end
if keep == 0 then call('UNLINK', messages) elseif keep < length then call('LTRIM', messages, 0, keep - 1) end
for at = 5, #ARGV do call('RPUSH', messages, ARGV[at]) end
call('HSET', head, 'revision', revision + 1, 'length', keep + #ARGV - 4, 'save', ARGV[3])
live(ARGV[1])
return revision + 1
`);

export const deleteScript = new RedisScript(`return redis.call('UNLINK', KEYS[1], KEYS[2])`);
