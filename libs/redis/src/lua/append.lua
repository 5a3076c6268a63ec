-- Appends events without a change of a ticket.
-- KEYS: stream, committed, appended

local stream, committed, appended = unpack(KEYS)
local remember_ms = next_argument()
local events = next_list()

-- The request names `appended`: a repetition of the request appends nothing.
if redis.call('SET', appended, 1, 'PX', remember_ms, 'NX') then append_events(stream, committed, events) end
return 'appended'
