-- Reads a live ticket, and gives it `ARGV[1]` milliseconds from now where that is not empty.
-- KEYS: ticket, chains (see redeem.lua)

local ticket, chains = unpack(KEYS)
local found = redis.call('HMGET', ticket, 'correlationid', 'context', 'detail')
if not found[1] or is_revoked(chains .. found[1]) then return {} end
if ARGV[1] ~= '' then redis.call('PEXPIRE', ticket, ARGV[1]) end
return found
