import { RedisScript } from './connection.js';

/**
 * The start of each Lua script of the session store. A session has three keys: the hash `head` with its fields, the
 * list `list` with its entries, and the hash `ids` with the position of each entry by its id. Fields and arguments are
 * JSON, except channels. ARGV[1] is the lifetime in milliseconds, or null. Earlier versions of Keelson wrote heads
 * without the field `format`.
 *
 * A script replies nil if the session does not exist, a word for a problem, or a list. The list starts with the
 * entries, the owner, the time of the last entry, the uid, the number of entries, and the position of the first
 * returned entry. Then follow four fields of the claim, and further values of the script. The owner is set only if its
 * index must be updated.
 */
const start = `
local head, list, ids, ttl = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local names = { 'format', 'uid', 'length', 'context', 'waits', 'created', 'updated', 'owner', 'indexed', 'token', 'run', 'until', 'by', 'waitsFor' }
local it, found = {}, call('HMGET', head, unpack(names))
for at, name in ipairs(names) do it[name] = found[at] end
if it.format ~= '2' and call('EXISTS', head) == 1 then return 'outdated' end
local length = tonumber(it.length or 0)

local function set(name, value)
  it[name] = value
  call('HSET', head, name, value)
end
local function answer(entries, offset, owner, ...)
  return { entries, owner, it.updated or now, it.uid, length, offset, it.run, it['until'], it.by, it.waitsFor, ... }
end
`;

const common = `${start}
if call('LLEN', list) ~= length or call('HLEN', ids) ~= length then return 'damaged' end

-- Adds an entry, unless its id is stored.
local function add(id, entry)
  if call('HSETNX', ids, id, length) == 0 then return false end
  call('RPUSH', list, entry)
  if length == 0 then set('created', now) end
  length = length + 1
  set('length', length)
  set('updated', now)
  return true
end

-- Restarts the lifetime. A relative time would be counted from a later millisecond for the second key.
local function reply(entries, offset, isNew, ...)
  for _, key in ipairs(KEYS) do
    if ttl then call('PEXPIREAT', key, now + ttl) else call('PERSIST', key) end
  end
  local owner = it.owner and (isNew or ttl and now - it.indexed > ttl) and it.owner or false
  if owner then set('indexed', now) end
  return answer(entries, offset, owner, ...)
end

-- Returns the selected entries, and the position of the first one.
local function slice(offset, before, limit, uid, known)
  if uid == it.uid and tonumber(known) <= length then offset = tonumber(known) end
  offset = math.max(offset, before - limit)
  return before > offset and call('LRANGE', list, offset, before - 1) or {}, offset
end
`;

/**
 * Lua script that claims a session. ARGV: token, run, by, lifetime of the claim in milliseconds, uid for a new session,
 * known uid, known length, names and values of details. Further values: 1 if the claim succeeded, otherwise 0, and the
 * run whose expired claim it replaced.
 */
export const claimScript = new RedisScript(`${common}
local other = it.token and it.token ~= ARGV[2]
if other and tonumber(it['until']) > now then return reply({}, 0, false, 0) end
local lost = other and it.run
if not it.uid then
  set('format', 2)
  set('uid', ARGV[6])
end
for at = 9, length == 0 and #ARGV or 0, 2 do set(ARGV[at], ARGV[at + 1]) end
set('token', ARGV[2])
set('run', ARGV[3])
set('by', ARGV[4])
set('until', now + ARGV[5])
set('waitsFor', 'null')
local entries, offset = slice(tonumber(it.context or 0), length, length, ARGV[7], ARGV[8])
return reply(entries, offset, length == 0, 1, lost)
`);

/**
 * Lua script that appends entries. ARGV: token, known length, context or null, waits or an empty string, true to end
 * the claim, ids and entries.
 *
 * Returns the entries after the known ones. Further values, each 1 or 0: the caller holds the claim, all its entries
 * are stored, and the claim has ended.
 */
export const appendScript = new RedisScript(`${common}
if not it.uid then return false end
local isHolder, known, before, seen = it.token == ARGV[2], tonumber(ARGV[3]), length, {}
local entries, stored, released = slice(known, length, math.huge), 1, 0
local others = #entries
for at = 7, #ARGV, 2 do
  local id = ARGV[at]
  local position = call('HGET', ids, id)
  if position and not seen[id] and tonumber(position) >= known then others = others - 1 end
  seen[id] = true
  if not position and not isHolder then stored = 0 end
  if isHolder then add(id, ARGV[at + 1]) end
end
if isHolder and ARGV[4] ~= 'null' then set('context', ARGV[4]) end
if isHolder and ARGV[5] ~= '' then set('waits', ARGV[5]) end
if isHolder and ARGV[6] == 'true' and others == 0 then
  released = call('HDEL', head, 'token', 'run', 'until', 'by', 'waitsFor') and 1
end
return reply(entries, known, length > before, isHolder and 1 or 0, stored, released)
`);

/**
 * Lua script that renews a claim. ARGV: token, lifetime of the claim in milliseconds, question that the run waits for.
 * Replies nil if the caller does not hold the claim.
 */
export const renewScript = new RedisScript(`${common}
if it.token ~= ARGV[2] then return false end
set('until', now + ARGV[3])
set('waitsFor', ARGV[4])
return reply({}, 0, false)
`);

/**
 * Lua script that adds a post. ARGV: channel or an empty string, run that a stop names or null, id and JSON of the
 * post. For a stop, the id and the JSON of the entry that drops it follow. Further value: 1 if the post was added,
 * otherwise 0.
 */
export const postScript = new RedisScript(`${common}
if not it.uid then return false end
local isNew = add(ARGV[4], ARGV[5])
if isNew and ARGV[6] and ARGV[3] ~= (it.run or it.waits) then add(ARGV[6], ARGV[7]) end
if isNew and ARGV[2] ~= '' then call('PUBLISH', ARGV[2], '') end
return reply({}, 0, isNew, isNew and 1 or 0)
`);

/**
 * Lua script that loads entries. ARGV: known uid, known length, `start` or `context`, position before which to end,
 * maximum number of entries.
 */
export const loadScript = new RedisScript(`${common}
if not it.uid then return false end
local offset = ARGV[4] == '"context"' and tonumber(it.context or 0) or 0
local before, limit = tonumber(ARGV[5]) or length, tonumber(ARGV[6]) or math.huge
local entries, first = slice(offset, before, limit, ARGV[2], ARGV[3])
return reply(entries, first, false)
`);

/**
 * Lua script that returns the time of the first entry of a session, its owner, its title and its data. ARGV: pairs of a
 * name and a new value, which are set first if the session has entries.
 */
export const detailsScript = new RedisScript(`${start}
if not it.uid then return false end
for at = 2, length > 0 and #ARGV or 0, 2 do set(ARGV[at], ARGV[at + 1]) end
return answer({}, 0, false, it.created, unpack(call('HMGET', head, 'owner', 'title', 'data')))
`);
