-- Claims the oldest waiting events for a relay: first events that another relay claimed and did not finish,
-- then new events.
-- KEYS: stream
-- ARGV: group, consumer, idle time in milliseconds after which an event is claimed again, count, cursor
-- Answers the next cursor and the entries.

local stream = KEYS[1]
local group, consumer, idle_ms, count, cursor = unpack(ARGV)
if redis.call('EXISTS', stream) == 0 then return { '0-0', {} } end

local function take_over()
  return redis.pcall('XAUTOCLAIM', stream, group, consumer, idle_ms, cursor, 'COUNT', count)
end

local taken_over = take_over()
if taken_over.err and string.find(taken_over.err, 'NOGROUP', 1, true) then
  redis.call('XGROUP', 'CREATE', stream, group, '0')
  taken_over = take_over()
end
if taken_over.err then return taken_over end

local entries = taken_over[2]
local room = tonumber(count) - #entries
if room > 0 then
  local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', room, 'STREAMS', stream, '>')
  if read then
    for _, entry in ipairs(read[1][2]) do entries[#entries + 1] = entry end
  end
end
return { taken_over[1], entries }
