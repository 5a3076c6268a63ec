-- Removes published events. In one step, since an event that is acknowledged and still there would never go.
-- KEYS: stream
-- ARGV: group, then the ids

local ids = { unpack(ARGV, 2) }
redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
return redis.call('XDEL', KEYS[1], unpack(ids))
