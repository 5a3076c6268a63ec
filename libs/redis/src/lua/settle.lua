-- Acknowledges and removes published events in one step. An event that is acknowledged but not removed would
-- stay for ever.
-- KEYS: stream
-- ARGV: group, then the ids

local ids = { unpack(ARGV, 2) }
redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
return redis.call('XDEL', KEYS[1], unpack(ids))
