-- Counts a request of a client if it is within the limit per second. The requests of the previous second are
-- weighted by how much of that second is in the last 1000 milliseconds.
-- KEYS: rate (hash: a second, its number of requests, the number of requests in the second before)
-- ARGV: limit per second
-- Returns 0 if the request is allowed. Otherwise returns the milliseconds until a request is allowed.

local rate, limit = KEYS[1], tonumber(ARGV[1])
local time = redis.call('TIME')
local second, part = tonumber(time[1]), tonumber(time[2]) / 1000000
local stored = redis.call('HMGET', rate, 'second', 'count', 'before')
local last, count, before = tonumber(stored[1]), tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
if last ~= second then
  before = last == second - 1 and count or 0
  count = 0
end
if math.floor(before * (1 - part)) + count < limit then
  redis.call('HSET', rate, 'second', second, 'count', count + 1, 'before', before)
  redis.call('PEXPIRE', rate, 2000)
  return 0
end
-- Returns the fraction of a second after which one more request is allowed, if the second already has
-- `current` requests and the previous second had `earlier` requests.
local function part_after(earlier, current)
  return math.max(0, 1 - (limit - current) / earlier)
end
local wait = count < limit and part_after(before, count) - part or 1 - part + part_after(count, 0)
return math.max(1, math.ceil(wait * 1000))
