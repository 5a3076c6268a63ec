-- Moves an event that cannot be published to a separate stream of bounded length, so that it does not block
-- other events.
-- KEYS: stream, stream of rejected events
-- ARGV: group, maximum length of the second stream, id, reason

local stream, rejected = unpack(KEYS)
local group, most, id, reason = unpack(ARGV)
local entry = redis.call('XRANGE', stream, id, id)[1]
if entry then
  redis.call('XADD', rejected, 'MAXLEN', most, '*', 'reason', reason, unpack(entry[2]))
end
redis.call('XACK', stream, group, id)
return redis.call('XDEL', stream, id)
