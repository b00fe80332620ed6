import { RedisScript } from './connection.js';
import { common, sliding, writing } from './state-script-parts.js';

/** Lua script that reads a value. ARGV after those of `sliding`: member. Replies nil, or `value` and the value. */
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
 * Lua script that stores a value. ARGV after those of `writing`: member, value, bytes of the key, condition, expected
 * value. Replies the return value of `write` or `refusal`.
 */
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
 * Lua script that stores several values. ARGV after those of `writing`: number of writes, the five arguments of each
 * write, then the members that were read. Replies, for each write, the number of evicted keys and the return value of
 * `write` or `refusal`.
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

/** Lua script that restarts the lifetime of the state of a session. Replies nil. */
export const touchScript = new RedisScript(`${sliding}
if call('EXISTS', head) == 0 then return false end
renew()
local missing = unindexed({})
if missing then return missing end
slide()
return false
`);

/**
 * Lua script that removes the values of an extension. ARGV: extension, and a member to remove only that value. Replies
 * the number of removed values.
 */
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

/** Lua script that removes all values of a session. Replies the number of removed values. */
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

/** Lua script that replies the bytes of the session, then each extension and its bytes. */
export const statsScript = new RedisScript(`${common}${sizes}
return reply
`);

/**
 * Lua script that reads the values of several extensions. ARGV: maximum bytes to return for each extension, and
 * extensions.
 *
 * Replies the number of extensions with state, the bytes of the session, and each extension and its bytes. For each
 * requested extension follow 1 if all its values are returned, otherwise 0, the number of returned values, and each key
 * with its value.
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
