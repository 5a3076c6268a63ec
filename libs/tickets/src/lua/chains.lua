-- A chain consists of all tickets of one correlation id. It is revoked while its key exists.

local function is_revoked(chain)
  return redis.call('EXISTS', chain) == 1
end

-- Revokes for at least the given time; returns whether the chain was not revoked before.
local function revoke(chain, for_ms)
  local left_ms = redis.call('PTTL', chain)
  if left_ms < tonumber(for_ms) then redis.call('SET', chain, 1, 'PX', for_ms) end
  return left_ms < 0
end
