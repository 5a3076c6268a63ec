-- Answers the number of waiting events, the age of the oldest waiting event in milliseconds, and the number
-- of events ever committed.
-- KEYS: stream, committed

local stream, committed = unpack(KEYS)
local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local age_ms = 0
if oldest then
  local now = redis.call('TIME')
  local now_ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
  age_ms = now_ms - tonumber(string.match(oldest[1], '^%d+'))
end
return { redis.call('XLEN', stream), age_ms, tonumber(redis.call('GET', committed) or 0) }
