-- Deletes the failed attempts of a caller that has authenticated.
-- KEYS: attempts (see fail-attempt.lua)
-- ARGV: caller, length of a period in milliseconds

local time = redis.call('TIME')
local period = math.floor((tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) / tonumber(ARGV[2]))
redis.call('HDEL', KEYS[1] .. period, ARGV[1])
redis.call('HDEL', KEYS[1] .. (period - 1), ARGV[1])
return 'forgiven'
