-- Uses up a name for a limited time and appends the events of the use. If the name is used up, changes
-- nothing.
-- KEYS: name, stream, committed
-- Answers 'used' or 'used-before'.

local name, stream, committed = unpack(KEYS)
local attempt, for_ms = next_argument(), next_argument()
local events = next_list()

if redis.call('SET', name, attempt, 'PX', for_ms, 'NX') then
  append_events(stream, committed, events)
  return 'used'
end
-- `attempt` identifies the request, so a request that is retried after a lost reply finds its own use.
return redis.call('GET', name) == attempt and 'used' or 'used-before'
