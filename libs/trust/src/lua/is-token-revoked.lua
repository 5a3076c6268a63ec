-- KEYS: ends

local ends_at = redis.call('ZSCORE', KEYS[1], ARGV[1])
return ends_at and tonumber(ends_at) > now_ms() and 1 or 0
