-- Reads a live ticket, and gives it `ARGV[1]` milliseconds from now where that is not empty.
-- KEYS: ticket

local found = redis.call('HMGET', KEYS[1], 'correlationid', 'context', 'detail')
if not found[1] then return {} end
if ARGV[1] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return found
