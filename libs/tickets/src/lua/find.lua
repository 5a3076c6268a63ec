-- Reads a live ticket. Unless `ARGV[1]` is empty, extends the ticket to `ARGV[1]` milliseconds from now, but
-- not beyond the end of its chain.
-- KEYS: ticket, chains (see redeem.lua)

local ticket, chains = unpack(KEYS)
local found = redis.call('HMGET', ticket, 'correlationid', 'context', 'detail', 'endsat')
if not found[1] or is_revoked(chains .. found[1]) then return {} end
if ARGV[1] ~= '' then expire(ticket, ARGV[1], found[4]) end
found[4] = left_ms(found[4])
return found
