-- A chain may have an end: a time of Redis in milliseconds since 1970, which each of its tickets contains
-- (`endsat`).

-- Returns the end of a chain that begins now; nothing without a lifetime.
local function end_after(chain_ms)
  if chain_ms == '' then return nil end
  return string.format('%.0f', now_ms() + tonumber(chain_ms))
end

-- Expires a key after its own lifetime, or with its chain if that ends earlier.
local function expire(key, ttl_ms, ends_at)
  redis.call('PEXPIRE', key, ttl_ms)
  if ends_at then redis.call('PEXPIREAT', key, ends_at, 'LT') end
end

-- Returns the milliseconds until a chain ends, as text; false, which Redis answers as nil, for a chain
-- without an end.
local function left_ms(ends_at)
  return ends_at and string.format('%.0f', tonumber(ends_at) - now_ms()) or false
end
