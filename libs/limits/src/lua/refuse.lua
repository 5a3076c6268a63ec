-- Counts a refusal of an address, and stores its events unless too many events are waiting.
-- KEYS: addresses, refused, committed
-- ARGV: address, refusals allowed in a window (0: any number), window in milliseconds, maximum number of
-- addresses, maximum number of events, events
-- Returns the milliseconds until the address is within its limit, and the number of dropped events.

local addresses, refused, committed = unpack(KEYS)
local address = next_argument()
local allowed, window_ms = tonumber(next_argument()), tonumber(next_argument())
local most_addresses, most_events = tonumber(next_argument()), tonumber(next_argument())
local events = next_list()

if allowed > 0 then
  -- If the maximum number of addresses is reached, all other addresses share one count until the window ends.
  if redis.call('HLEN', addresses) >= most_addresses and redis.call('HEXISTS', addresses, address) == 0 then
    address = 'others'
  end
  local count = redis.call('HINCRBY', addresses, address, 1)
  -- The first refusal begins the window. The counts of all addresses in this shard expire together.
  local left_ms = redis.call('PTTL', addresses)
  if left_ms < 0 then
    redis.call('PEXPIRE', addresses, window_ms)
    left_ms = window_ms
  end
  if count > allowed then return { math.max(left_ms, 1), 0 } end
end

if redis.call('XLEN', refused) + #events > most_events then return { 0, #events } end
append_events(refused, committed, events)
return { 0, 0 }
