/**
 * The start of each Lua script of the state store. The state of a session has five keys. The hash `head` has the fields
 * `end`, `order`, `indexed` and `bytes`, and the bytes and the number of keys of each extension. The hash `entries` has
 * the bytes and the last use of each value. The sorted set `used` of `extension:order:key` sorts the values of each
 * extension by last use.
 *
 * The sorted set `due` has the expiry time of each value; `inf` means that a value expires with its session. The hash
 * `long` has all values with `inf`, so that one expiry time applies to all. Any other value has its own key. A value is
 * identified by its member, `extension:key`.
 */
export const common = `
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
 * The start of the Lua scripts that extend the lifetime of a session. ARGV: lifetime of the value, lifetime of the
 * session, time at which the index entries of the session expire, names of the extensions whose indexes have such an
 * entry.
 */
export const sliding = `${common}
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

/**
 * The start of the Lua scripts that write values. Further ARGV: maximum bytes of an extension, maximum bytes of the
 * session, maximum keys of an extension.
 *
 * The Lua function `write` stores a value. It returns 1, the bytes of the session before and after, and the evicted
 * keys with their bytes. The Lua function `refusal` returns 0 or `conflict` instead of 1 for a value that must not be
 * stored.
 */
export const writing = `${sliding}
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
