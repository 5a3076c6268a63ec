-- Revokes a chain and appends the events of that, once: a repetition finds it revoked.
-- KEYS: chain, stream, committed

local chain, stream, committed = unpack(KEYS)
local for_ms, correlationid = next_argument(), next_argument()
local events = next_list()

if revoke(chain, for_ms) then append_events(stream, committed, events, correlationid) end
return 'revoked'
