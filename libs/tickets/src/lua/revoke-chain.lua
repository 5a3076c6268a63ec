-- Revokes a chain and appends the events of the revocation. If the chain is already revoked, appends nothing.
-- With an owner, revokes only a chain of that owner.
-- KEYS: chain, record, stream, committed

local chain, record, stream, committed = unpack(KEYS)
local for_ms, owner = next_argument(), next_argument()
local events = next_list()

if owner ~= '' and redis.call('HGET', record, 'owner') ~= owner then return 'unknown' end
if revoke(chain, for_ms) then append_events(stream, committed, events) end
return 'revoked'
