-- Counts a failed attempt to authenticate, and returns the wait before the next attempt.
-- KEYS: attempts (prefix of two hashes, for the current and the previous period)
-- ARGV: caller, free attempts, first wait, maximum wait, milliseconds until attempts are forgotten, maximum
-- number of entries
-- Returns a list: 1 if the attempt was counted and otherwise 0, then the wait in milliseconds.

local who = next_argument()
local free, first_ms, longest_ms = tonumber(next_argument()), tonumber(next_argument()), tonumber(next_argument())
local forgotten_ms, most_entries = tonumber(next_argument()), tonumber(next_argument())

local now = now_ms()
-- An entry is stored for at least one period, which is the maximum wait plus the time after which attempts
-- are forgotten.
local period_ms = longest_ms + forgotten_ms
local period = math.floor(now / period_ms)
local current = KEYS[1] .. period
local known = redis.call('HGET', current, who) or redis.call('HGET', KEYS[1] .. (period - 1), who)

local count, failed_at, waits_until = 0, 0, 0
if known then
  local counted, failed, waits = string.match(known, '(%d+) (%d+) (%d+)')
  count, failed_at, waits_until = tonumber(counted), tonumber(failed), tonumber(waits)
end
if waits_until > now then return { 0, waits_until - now } end
if math.max(failed_at, waits_until) + forgotten_ms <= now then count = 0 end
count = count + 1
local wait_ms = 0
if count >= free then wait_ms = math.min(first_ms * 2 ^ math.min(count - free, 30), longest_ms) end

if redis.call('HLEN', current) < most_entries or redis.call('HEXISTS', current, who) == 1 then
  redis.call('HSET', current, who, string.format('%d %d %d', count, now, now + wait_ms))
  redis.call('PEXPIRE', current, 2 * period_ms)
end
return { 1, wait_ms }
