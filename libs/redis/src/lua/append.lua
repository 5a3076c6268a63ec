-- Appends events that do not belong to a change of a ticket.
-- KEYS: stream, committed, appended

local stream, committed, appended = unpack(KEYS)
local remember_ms = next_argument()
local events = next_list()

-- `appended` identifies the request, so a retry of it appends nothing.
if redis.call('SET', appended, 1, 'PX', remember_ms, 'NX') then append_events(stream, committed, events) end
return 'appended'
