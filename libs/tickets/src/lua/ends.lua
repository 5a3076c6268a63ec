-- A chain may have an end: a time in milliseconds since 1970, by the clock of Redis. Each ticket of the chain
-- contains it (`endsat`).

-- Returns the end of a chain that begins now, or nil if the chain has no lifetime.
local function end_after(chain_ms)
  if chain_ms == '' then return nil end
  return string.format('%.0f', now_ms() + tonumber(chain_ms))
end

-- Expires a key after its own lifetime, or with its chain if the chain ends earlier.
local function expire(key, ttl_ms, ends_at)
  redis.call('PEXPIRE', key, ttl_ms)
  if ends_at then redis.call('PEXPIREAT', key, ends_at, 'LT') end
end

-- Stores a ticket. The `history` of its first write is compared when the ticket is redeemed (redeem.lua).
local function store(ticket, history, fields, ttl_ms, ends_at)
  redis.call('HSET', ticket, 'history', history, unpack(fields))
  if ends_at then redis.call('HSET', ticket, 'endsat', ends_at) end
  expire(ticket, ttl_ms, ends_at)
end

-- Returns the milliseconds until a chain ends, as text. For a chain without an end, returns false, which
-- Redis sends as nil.
local function left_ms(ends_at)
  return ends_at and string.format('%.0f', tonumber(ends_at) - now_ms()) or false
end
