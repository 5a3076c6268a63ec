-- Counts a request of a client if it is within the limit per second. The requests of the previous second are
-- weighted by how much of that second is in the last 1000 milliseconds.
-- KEYS: rate (hash: a second, its number of requests, the number of requests in the second before)
-- ARGV: limit per second
-- Returns 1 if the request is allowed, otherwise 0.

local rate, limit = KEYS[1], tonumber(ARGV[1])
local time = redis.call('TIME')
local second, part = tonumber(time[1]), tonumber(time[2]) / 1000000
local stored = redis.call('HMGET', rate, 'second', 'count', 'before')
local last, count, before = tonumber(stored[1]), tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
if last ~= second then
  before = last == second - 1 and count or 0
  count = 0
end
if math.floor(before * (1 - part)) + count >= limit then return 0 end
redis.call('HSET', rate, 'second', second, 'count', count + 1, 'before', before)
redis.call('PEXPIRE', rate, 2000)
return 1
