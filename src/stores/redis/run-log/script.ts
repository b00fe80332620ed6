import { RedisScript } from '../connection.js';

/**
 * The start of each Lua script of the run log. A log has two keys: the hash `head` with its fields, and `stream` with
 * its remaining events. The event with the offset 7 has the stream id 7-1. If Redis has evicted the stream, all events
 * so far are lost.
 */
const start = `
local head, stream = KEYS[1], KEYS[2]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = call('HMGET', head, 'first', 'end', 'bytes', 'outcome', 'watched')
local exists, outcome, watched = found[2], found[4] or '', tonumber(found[5] or now)
local first, last, bytes = tonumber(found[1] or 0), tonumber(found[2] or 0), tonumber(found[3] or 0)
local isWhole = call('XLEN', stream) == last - first
if not isWhole then first, bytes = last, 0 end

local function range(from, to) return call('XRANGE', stream, from .. '-1', to .. '-1') end
local function save(ttl, channel)
  call('HSET', head, 'first', first, 'end', last, 'bytes', bytes, 'watched', watched)
  if outcome ~= '' then call('HSET', head, 'outcome', outcome) end
  for _, key in ipairs(KEYS) do call('PEXPIREAT', key, now + ttl) end
  if channel ~= '' then call('PUBLISH', channel, '') end
end
`;

/**
 * Lua script that appends events. ARGV: offset of the first event, maximum bytes of the log, lifetime in milliseconds,
 * channel or an empty string, events.
 *
 * Replies 1 if the log has the events, otherwise 0. Then follow the end offset, the milliseconds since a reader last
 * touched the log, and the outcome or an empty string.
 */
export const appendScript = new RedisScript(`${start}
local from, most, count = tonumber(ARGV[1]), tonumber(ARGV[2]), #ARGV - 4
if not exists and from > 0 then return { 0, 0, 0, '' } end
local known = math.min(last - from, count)
local isAdded = known >= 0 and (known == count or outcome == '') and (known == 0 or from + known > first)
if isAdded and known > 0 then
  local left = math.max(from, first)
  for at, item in ipairs(range(left, from + known - 1)) do
    isAdded = isAdded and item[2][2] == ARGV[4 + left - from + at]
  end
end
if isAdded and outcome == '' then
  if not isWhole then call('UNLINK', stream) end
  for at = known + 5, #ARGV do
    call('XADD', stream, last .. '-1', 'event', ARGV[at])
    last, bytes = last + 1, bytes + #ARGV[at]
  end
  while bytes > most and first < last - 1 do
    local oldest = range(first, math.min(first + 50, last) - 2)
    if #oldest == 0 then break end
    for _, item in ipairs(oldest) do
      if bytes > most then first, bytes = first + 1, bytes - #item[2][2] end
    end
  end
  call('XTRIM', stream, 'MAXLEN', last - first)
  save(ARGV[3], ARGV[4])
end
return { isAdded and 1 or 0, last, now - watched, outcome }
`);

/**
 * Lua script that reads events. ARGV: offset, maximum number of events. Replies nil for an unknown run. Otherwise
 * replies the first stored offset, the end offset, the outcome or an empty string, and the events.
 */
export const readScript = new RedisScript(`${start}
if not exists then return false end
local reply, from = { first, last, outcome }, tonumber(ARGV[1])
if from < first or from >= last then return reply end
for _, item in ipairs(range(from, math.min(from + ARGV[2], last) - 1)) do reply[#reply + 1] = item[2][2] end
return reply
`);

/**
 * Lua script that closes a log. ARGV: outcome, lifetime in milliseconds, channel or an empty string. Replies the
 * outcome of the first close.
 */
export const closeScript = new RedisScript(`${start}
if outcome ~= '' then return outcome end
outcome = ARGV[1]
save(ARGV[2], ARGV[3])
return outcome
`);

export const touchScript = new RedisScript(`${start}
if exists then call('HSET', head, 'watched', now) end
return false
`);
