-- A chain consists of all tickets with the same correlation id. It is revoked while the key `chain` exists.

local function is_revoked(chain)
  return redis.call('EXISTS', chain) == 1
end

-- Revokes a chain for at least the given time. Returns true if the chain was not revoked before.
local function revoke(chain, for_ms)
  local left_ms = redis.call('PTTL', chain)
  if left_ms < tonumber(for_ms) then redis.call('SET', chain, 1, 'PX', for_ms) end
  return left_ms < 0
end
