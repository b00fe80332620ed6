import { RedisScript } from './connection.js';

/**
 * The common start of all session scripts. A session has two keys. `head` is a hash with the revision, the number of
 * messages, the details, the claim, and the id of the last save. `messages` is a list. Each entry is the revision that added
 * the message, a space, and the message as JSON.
 */
const common = `
local head, messages = KEYS[1], KEYS[2]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function int(number) return string.format('%.0f', number) end

-- Returns the revision that added a message. A damaged entry counts as new, so that the load reports it.
local function addedBy(entry) return tonumber(entry:match('^(%d+) ')) or math.huge end

-- Sets the same expiry on both keys. A relative time would be counted from a later millisecond for the second key.
local function live(ttl)
  for _, key in ipairs(KEYS) do
    if ttl == '0' then call('PERSIST', key) else call('PEXPIREAT', key, int(now + tonumber(ttl))) end
  end
end
`;

/**
 * ARGV: ttl, known uid, known revision. Replies nil if there is no session. Otherwise replies the revision, the uid, the
 * expected and the stored number of messages, the number of known messages, and the other messages. Last come the owner and
 * the time of the save; the owner is empty unless its index may expire before the session.
 */
export const loadScript = new RedisScript(`${common}
local found = call('HMGET', head, 'revision', 'length', 'uid', 'owner', 'indexed', 'updated')
if not found[1] then return false end
live(ARGV[1])
local length, stored, known = tonumber(found[2]), call('LLEN', messages), tonumber(ARGV[3])
local keep = 0
if stored == length and found[3] == ARGV[2] and known <= tonumber(found[1]) then
  keep = length
  if known < tonumber(found[1]) then
    -- Negative indexes, so that Redis starts at the end of the list.
    while keep > 0 and addedBy(call('LINDEX', messages, keep - 1 - length)) > known do keep = keep - 1 end
  end
end
local later = {}
if keep < stored then later = call('LRANGE', messages, keep - stored, -1) end
local owner = ''
if found[4] and ARGV[1] ~= '0' and now - tonumber(found[5]) > tonumber(ARGV[1]) then
  owner = 'o' .. found[4]
  call('HSET', head, 'indexed', int(now))
end
return { found[1], found[3], found[2], int(stored), int(keep), later, owner, found[6] }
`);

/**
 * ARGV: ttl, expected revision, id of this save, number of messages to keep, uid, claim, number of detail arguments, names
 * and values of details, and the messages to append. Replies nil if the save is refused, 0 if messages are missing, or else
 * the new revision, the time, and the owner. A save that a client sends twice counts once.
 */
export const saveScript = new RedisScript(`${common}
local expected, keep = tonumber(ARGV[2]), tonumber(ARGV[4])
local found = call('HMGET', head, 'revision', 'length', 'save', 'uid', 'token', 'until', 'owner', 'updated')
local revision, length = tonumber(found[1] or 0), tonumber(found[2] or 0)
if revision == expected + 1 and found[3] == ARGV[3] then return { revision, found[8], found[7] and 'o' .. found[7] or '' } end
if revision ~= expected then return false end
if revision > 0 and ARGV[5] ~= '' and ARGV[5] ~= found[4] then return false end
if ARGV[6] ~= (found[5] or '') and (ARGV[6] ~= '' or tonumber(found[6]) > now) then return false end
if revision > 0 and call('LLEN', messages) ~= length or keep % 1 ~= 0 or keep < 0 or keep > length then return 0 end

local first = 8 + tonumber(ARGV[7])
if keep == 0 then call('UNLINK', messages) elseif keep < length then call('LTRIM', messages, 0, keep - 1) end
for at = first, #ARGV do call('RPUSH', messages, int(revision + 1) .. ' ' .. ARGV[at]) end
local owner = found[7]
if revision == 0 then
  call('HSET', head, 'uid', ARGV[5] == '' and ARGV[3] or ARGV[5], 'created', int(now))
  for at = 8, first - 1, 2 do
    call('HSET', head, ARGV[at], ARGV[at + 1])
    if ARGV[at] == 'owner' then owner = ARGV[at + 1] end
  end
end
call('HSET', head, 'revision', revision + 1, 'length', keep + #ARGV - first + 1, 'save', ARGV[3])
call('HSET', head, 'updated', int(now), 'indexed', int(now))
call('HDEL', head, 'token', 'until', 'attempt')
live(ARGV[1])
return { revision + 1, int(now), owner and 'o' .. owner or '' }
`);

export const deleteScript = new RedisScript(`return redis.call('UNLINK', KEYS[1], KEYS[2])`);

/** ARGV: token, revision, time of the claim in milliseconds. Replies nil, or the number of the attempt. */
export const claimScript = new RedisScript(`${common}
local found = call('HMGET', head, 'revision', 'token', 'until', 'attempt')
if not found[1] or tonumber(found[1]) ~= tonumber(ARGV[2]) then return false end
local attempt = tonumber(found[4] or 0)
if found[2] ~= ARGV[1] then
  if found[2] and tonumber(found[3]) > now then return false end
  attempt = attempt + 1
end
call('HSET', head, 'token', ARGV[1], 'until', int(now + ARGV[3]), 'attempt', attempt)
return attempt
`);

/** ARGV: token, time of the claim in milliseconds. Replies 1 if the claim was renewed, or 0. */
export const renewScript = new RedisScript(`${common}
if call('HGET', head, 'token') ~= ARGV[1] then return 0 end
call('HSET', head, 'until', int(now + ARGV[2]))
return 1
`);

/** ARGV: token. */
export const releaseScript = new RedisScript(`${common}
if call('HGET', head, 'token') == ARGV[1] then call('HDEL', head, 'token', 'until') end
return false
`);

/** ARGV: names and values of details to set. Replies nil, or the names and the values of all fields except the messages. */
export const detailsScript = new RedisScript(`${common}
if call('EXISTS', head) == 0 then return false end
for at = 1, #ARGV, 2 do call('HSET', head, ARGV[at], ARGV[at + 1]) end
return call('HGETALL', head)
`);
