-- Marks entries as idle, so that another relay claims them immediately.
-- KEYS: stream
-- ARGV: group, consumer, idle time in milliseconds, then the ids

local group, consumer, idle_ms = unpack(ARGV, 1, 3)
local claim = { KEYS[1], group, consumer, 0, unpack(ARGV, 4) }
for _, option in ipairs({ 'IDLE', idle_ms, 'JUSTID' }) do claim[#claim + 1] = option end
return redis.call('XCLAIM', unpack(claim))
