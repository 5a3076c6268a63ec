-- Leases requests of a client's rate: at most its limit in any one second.
-- KEYS: leases (sorted set: id and number of requests, by the time until which they count)
-- ARGV: id, limit for a second, wanted requests, milliseconds within which a lease of several is used
-- Answers the number of granted requests, or 0 and the milliseconds until a lease ends.

local leases = KEYS[1]
local id, limit, wanted, held_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
local used = 0
for _, lease in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
  used = used + tonumber(string.match(lease, ' (%d+)$'))
end
local granted = math.min(wanted, limit - used)
if granted < 1 then
  local oldest = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')
  return { 0, oldest[2] and math.max(1, math.ceil(oldest[2] - now)) or 1000 }
end
-- Requests of the lease may be sent until it ends, and count for a second from then on.
local counts_ms = 1000 + (granted > 1 and held_ms or 0)
redis.call('ZADD', leases, now + counts_ms, id .. ' ' .. granted)
redis.call('PEXPIRE', leases, counts_ms)
return { granted, 0 }
