-- Counts a request of a client against its limit per second. The requests of the previous second are weighted
-- by the part of that second that is within the last 1000 milliseconds.
-- KEYS: rate (hash: second, count of its requests, count of the previous second)
-- ARGV: limit per second
-- Returns 0, or the milliseconds until a request is allowed again. A refused request is not counted.

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
-- Returns the part of a second after which one more request is allowed in addition to `current` requests, if
-- the previous second had `earlier` requests.
local function part_after(earlier, current)
  return math.max(0, 1 - (limit - current) / earlier)
end
local wait = count < limit and part_after(before, count) - part or 1 - part + part_after(count, 0)
return math.max(1, math.ceil(wait * 1000))
