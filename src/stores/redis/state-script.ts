import { RedisScript } from './connection.js';

/**
 * The common start of all state scripts. The state of a session has five keys:
 * `head` is a hash with end, order, indexed and bytes, and with the bytes and the number of keys of each extension.
 * `entries` is a hash with the bytes and the order of each value.
 * `used` is a sorted set of `extension:order:key`, which sorts the values of each extension by last use.
 * `due` is a sorted set of the expiry times of values; `inf` means that a value expires with its session.
 * `long` is a hash of all values that expire with the session, so that one expiry moves them together.
 * A value that expires before its session has a key of its own. A member is `extension:key`.
 */
const common = `
local head, entries, used, due, long = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Formats a number without decimals, and never as '-0', which HINCRBY refuses.
local function int(number) return string.format('%.0f', number + 0) end
local function count(field) return tonumber(call('HGET', head, field) or 0) end
local function own(member) return head .. ':value:' .. member end
local function stored(member, score)
  if score == 'inf' then return call('HGET', long, member) end
  return call('GET', own(member))
end

local function entry(member)
  local found = call('HGET', entries, member)
  if not found then return nil end
  local bytes, order = found:match('^(%d+) (%d+)$')
  return tonumber(bytes), order
end

local function account(extension, bytes, keys)
  call('HINCRBY', head, 'bytes', int(bytes))
  call('HINCRBY', head, 'bytes:' .. extension, int(bytes))
  if call('HINCRBY', head, 'keys:' .. extension, int(keys)) <= 0 then
    call('HDEL', head, 'keys:' .. extension, 'bytes:' .. extension)
  end
end

local function inUse(member, order)
  local extension, key = member:match('^([^:]*):([^:]*)$')
  return extension .. ':' .. order .. ':' .. key, extension
end

local function remove(member)
  local bytes, order = entry(member)
  call('UNLINK', own(member))
  call('HDEL', long, member)
  call('HDEL', entries, member)
  call('ZREM', due, member)
  if not bytes then return end
  local place, extension = inUse(member, order)
  call('ZREM', used, place)
  account(extension, -bytes, -1)
end

local function forget() call('UNLINK', head, entries, used, due, long) end
local function tidy() if call('HLEN', entries) == 0 then forget() end end

-- Removes expired values. If Redis has evicted some keys of the session, removes the others too.
local function open()
  local there = call('EXISTS', head, entries, used, due)
  if there > 0 and there < 4 then forget() end
  for _, member in ipairs(call('ZRANGEBYSCORE', due, '-inf', int(now))) do remove(member) end
  tidy()
end
open()
`;

/**
 * The common start of the scripts that extend the lifetime of a session. ARGV: ttl of the value, ttl of the session,
 * time until the index entries of the session expire, names of the extensions in those entries.
 */
const sliding = `${common}
local ttl, sessionTtl = tonumber(ARGV[1]), tonumber(ARGV[2])
local sessionEnd = now + sessionTtl

-- A full Redis refuses commands that need memory, unless the script has already written. HDEL needs none, so that a script
-- which only renews times runs.
local function renew() call('HDEL', head, '') end

-- Returns the time at which the last value expires, and with it the whole state.
local function stateEnd()
  local last = call('ZRANGE', due, -1, -1, 'WITHSCORES')[2]
  return math.min(sessionEnd, tonumber(last or 0))
end

-- State must not outlive its entry in the index of its extension. Returns the reply that requests missing entries, or nil.
local function unindexed(newcomers)
  local latest = math.max(stateEnd(), math.min(sessionEnd, now + ttl))
  local late = latest > count('indexed')
  local names = {}
  if late then
    for _, field in ipairs(call('HKEYS', head)) do names[#names + 1] = field:match('^keys:(.*)$') end
  end
  for _, newcomer in ipairs(newcomers) do
    if call('HEXISTS', head, 'keys:' .. newcomer) == 0 then names[#names + 1] = newcomer end
  end
  if #names == 0 then return nil end
  for _, name in ipairs(names) do
    if not ARGV[4]:find(':' .. name .. ':', 1, true) then
      return { 'index', int(latest + math.min(math.max((latest - now) / 8, 100), 60000)), unpack(names) }
    end
  end
  local indexed = tonumber(ARGV[3])
  call('HSET', head, 'indexed', int(late and indexed or math.min(indexed, count('indexed'))))
end

local function place(member, value, score, isNew)
  if ttl >= sessionTtl then
    if isNew or score ~= 'inf' then
      call('HSET', long, member, value)
      call('UNLINK', own(member))
    end
    call('ZADD', due, 'inf', member)
  else
    if isNew or score == 'inf' then
      call('HDEL', long, member)
      call('SET', own(member), value, 'PX', int(ttl))
    end
    call('ZADD', due, int(now + ttl), member)
    call('PEXPIREAT', own(member), int(now + ttl))
  end
end

local function use(member, bytes)
  local _, order = entry(member)
  if order then call('ZREM', used, (inUse(member, order))) end
  local latest = string.format('%016.0f', call('HINCRBY', head, 'order', 1))
  call('ZADD', used, 0, (inUse(member, latest)))
  call('HSET', entries, member, int(bytes) .. ' ' .. latest)
end

-- Moves the end of the session. Changes the expiry only of values that this end limited before, or limits now.
local function slide()
  local before = tonumber(call('HGET', head, 'end') or sessionEnd)
  local cut = call('ZRANGEBYSCORE', due, '(' .. int(math.min(before, sessionEnd)), '(inf', 'WITHSCORES')
  for at = 1, #cut, 2 do
    call('PEXPIREAT', own(cut[at]), int(math.min(tonumber(cut[at + 1]), sessionEnd)))
  end
  call('HSET', head, 'end', int(sessionEnd))
  local last = int(stateEnd())
  for at = 1, 5 do call('PEXPIREAT', KEYS[at], last) end
end
`;

/** Further ARGV: member. Replies nil, or `value` and the value. */
export const getScript = new RedisScript(`${sliding}
local member = ARGV[5]
local score = call('ZSCORE', due, member)
if not score then return false end
local value = stored(member, score)
local bytes = entry(member)
if not value or not bytes then
  remove(member)
  tidy()
  return false
end
renew()
local missing = unindexed({})
if missing then return missing end
place(member, value, score)
use(member, bytes)
slide()
return { 'value', value }
`);

/**
 * The common start of the scripts that write values. Further ARGV: maximum bytes of an extension, maximum bytes of the
 * session, maximum keys. `write` returns 1 if the value was stored, 0 if it does not fit, or `conflict`, then the bytes
 * before and after, and the evicted keys with their bytes.
 */
const writing = `${sliding}
local mostOfExtension, mostOfSession, mostKeys = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

-- A condition is an empty string, 'absent', or 'equal' with the expected value.
local function refusal(member, size, condition, expected)
  local extension = member:match('^[^:]*')
  local before, ofExtension = count('bytes'), count('bytes:' .. extension)
  if condition ~= '' then
    local current = call('HGET', long, member) or call('GET', own(member))
    local isExpected = condition == 'equal' and current == expected or condition == 'absent' and not current
    if not isExpected then return { 'conflict', int(before), int(before) } end
  end
  if size > mostOfExtension or before - ofExtension + size > mostOfSession then
    return { '0', int(before), int(before) }
  end
end

local function write(member, value, size)
  local extension = member:match('^[^:]*')
  local before, ofExtension = count('bytes'), count('bytes:' .. extension)
  local old = entry(member)
  local keys = count('keys:' .. extension) + (old and 0 or 1)
  local session = before - (old or 0) + size
  ofExtension = ofExtension - (old or 0) + size
  local evicted, skipped = {}, 0
  while ofExtension > mostOfExtension or session > mostOfSession or keys > mostKeys do
    local found = call('ZRANGEBYLEX', used, '[' .. extension .. ':', '(' .. extension .. ';', 'LIMIT', skipped, 1)[1]
    if not found then break end
    local key = found:match('[^:]*$')
    local oldest = extension .. ':' .. key
    if oldest == member then
      skipped = 1
    else
      local bytes = entry(oldest) or 0
      remove(oldest)
      session, ofExtension, keys = session - bytes, ofExtension - bytes, keys - 1
      evicted[#evicted + 1] = key
      evicted[#evicted + 1] = int(bytes)
    end
  end
  place(member, value, false, true)
  use(member, size)
  account(extension, size - (old or 0), old and 0 or 1)
  local reply = { '1', int(before), int(count('bytes')) }
  for at = 1, #evicted do reply[at + 3] = evicted[at] end
  return reply
end
`;

/** Further ARGV: member, value, bytes of the key, condition, expected value. Replies what `write` returns. */
export const setScript = new RedisScript(`${writing}
local member, value, size = ARGV[8], ARGV[9], #ARGV[9] + tonumber(ARGV[10])
local refused = refusal(member, size, ARGV[11], ARGV[12])
if refused then return refused end
local missing = unindexed({ member:match('^[^:]*') })
if missing then return missing end
local reply = write(member, value, size)
slide()
return reply
`);

/**
 * Further ARGV: number of writes, the five arguments of each write, then the members that were read. Replies, for each
 * write, the number of evicted keys and what `write` returns.
 */
export const applyScript = new RedisScript(`${writing}
local writes = tonumber(ARGV[8])
local firstUse = 9 + 5 * writes
if writes == 0 then renew() end
local newcomers = {}
for at = 1, writes do newcomers[at] = ARGV[4 + 5 * at]:match('^[^:]*') end
local missing = unindexed(newcomers)
if missing then return missing end

local isActive = false
for at = firstUse, #ARGV do
  local member = ARGV[at]
  local score = call('ZSCORE', due, member)
  local value, bytes = score and stored(member, score), entry(member)
  if value and bytes then
    place(member, value, score)
    use(member, bytes)
    isActive = true
  end
end
local reply = {}
for at = 9, firstUse - 1, 5 do
  local member, value, size = ARGV[at], ARGV[at + 1], #ARGV[at + 1] + tonumber(ARGV[at + 2])
  local result = refusal(member, size, ARGV[at + 3], ARGV[at + 4])
  if not result then
    result = write(member, value, size)
    isActive = true
  end
  reply[#reply + 1] = int((#result - 3) / 2)
  for part = 1, #result do reply[#reply + 1] = result[part] end
end
if isActive then slide() end
tidy()
return reply
`);

/** Restarts the lifetime of the session. Replies nil. */
export const touchScript = new RedisScript(`${sliding}
if call('EXISTS', head) == 0 then return false end
renew()
local missing = unindexed({})
if missing then return missing end
slide()
return false
`);

/** ARGV: extension, and a member to remove only that value. Replies the number of removed values. */
export const clearScript = new RedisScript(`${common}
local members = { ARGV[2] }
if not ARGV[2] then
  for at, found in ipairs(call('ZRANGEBYLEX', used, '[' .. ARGV[1] .. ':', '(' .. ARGV[1] .. ';')) do
    members[at] = ARGV[1] .. ':' .. found:match('[^:]*$')
  end
end
local cleared = 0
for _, member in ipairs(members) do
  if entry(member) then cleared = cleared + 1 end
  remove(member)
end
tidy()
return cleared
`);

/** Replies the number of removed values. */
export const clearSessionScript = new RedisScript(`${common}
local cleared = call('HLEN', entries)
for _, member in ipairs(call('ZRANGEBYSCORE', due, '-inf', '(inf')) do call('UNLINK', own(member)) end
forget()
return cleared
`);

const sizes = `
local reply = { int(count('bytes')) }
for _, field in ipairs(call('HKEYS', head)) do
  local extension = field:match('^keys:(.*)$')
  if extension then
    reply[#reply + 1] = extension
    reply[#reply + 1] = int(count('bytes:' .. extension))
  end
end
`;

/** Replies the bytes of the session, then each extension and its bytes. */
export const statsScript = new RedisScript(`${common}${sizes}
return reply
`);

/**
 * ARGV: maximum bytes of each extension, and extensions. Replies the number of extensions with state, what the script for
 * sizes replies, and for each requested extension: 1 if all its values follow or else 0, their number, and each key and
 * value.
 */
export const peekScript = new RedisScript(`${common}${sizes}
table.insert(reply, 1, int((#reply - 1) / 2))
for at = 2, #ARGV do
  local extension, room, isComplete, values = ARGV[at], tonumber(ARGV[1]), '1', {}
  local found = call('ZRANGEBYLEX', used, '[' .. extension .. ':', '(' .. extension .. ';')
  for last = #found, 1, -1 do
    local key = found[last]:match('[^:]*$')
    local member = extension .. ':' .. key
    local bytes = entry(member)
    room = room - (bytes or 0)
    local value = room >= 0 and stored(member, call('ZSCORE', due, member))
    if not bytes or not value then
      isComplete = '0'
      break
    end
    values[#values + 1] = key
    values[#values + 1] = value
  end
  reply[#reply + 1] = isComplete
  reply[#reply + 1] = int(#values / 2)
  for part = 1, #values do reply[#reply + 1] = values[part] end
end
return reply
`);
