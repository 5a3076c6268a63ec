-- Appends events that come with no change of a ticket.
-- KEYS: stream, committed, appended

local stream, committed, appended = unpack(KEYS)
local remember_ms = next_argument()
local events = next_list()

-- `appended` is named by the request: a repetition of it appends nothing.
if redis.call('SET', appended, 1, 'PX', remember_ms, 'NX') then append_events(stream, committed, events) end
return 'appended'
