-- Claims a name for a limited time and appends the events of the claim. If the name is taken, changes
-- nothing.
-- KEYS: claim, stream, committed
-- Answers 'claimed' or 'taken'.

local claim, stream, committed = unpack(KEYS)
local attempt, for_ms = next_argument(), next_argument()
local events = next_list()

if redis.call('SET', claim, attempt, 'PX', for_ms, 'NX') then
  append_events(stream, committed, events)
  return 'claimed'
end
-- `attempt` identifies the request, so a request that is retried after a lost reply finds its own claim.
return redis.call('GET', claim) == attempt and 'claimed' or 'taken'
