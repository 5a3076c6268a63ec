-- A chain may have an end: a time of Redis in milliseconds since 1970, which each ticket of it carries on (`endsat`).

local function now_ms()
  local now = redis.call('TIME')
  return tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
end

-- The end of a chain that begins to count now; nothing where no lifetime is asked for.
local function end_after(chain_ms)
  if chain_ms == '' then return nil end
  return string.format('%.0f', now_ms() + tonumber(chain_ms))
end

-- Lets a key expire after its own lifetime, or with its chain if that ends before.
local function expire(key, ttl_ms, ends_at)
  redis.call('PEXPIRE', key, ttl_ms)
  if ends_at then redis.call('PEXPIREAT', key, ends_at, 'LT') end
end

-- How many milliseconds a chain has left, as text; false, which Redis answers as nil, where it has no end.
local function left_ms(ends_at)
  return ends_at and string.format('%.0f', tonumber(ends_at) - now_ms()) or false
end
