-- Moves an event that cannot be published out of the way of the others, to a stream of bounded length.
-- KEYS: stream, stream of the rejected
-- ARGV: group, most entries of the second stream, id, reason

local stream, rejected = unpack(KEYS)
local group, most, id, reason = unpack(ARGV)
local entry = redis.call('XRANGE', stream, id, id)[1]
if entry then
  redis.call('XADD', rejected, 'MAXLEN', most, '*', 'reason', reason, unpack(entry[2]))
end
redis.call('XACK', stream, group, id)
return redis.call('XDEL', stream, id)
