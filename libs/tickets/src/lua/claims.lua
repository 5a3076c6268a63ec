-- Claims are fields of small hashes, which Redis stores as listpacks. Listpacks need a third of the memory of
-- separate keys. A field's name is 16 bytes of the SHA-256 of the claim's name. Its value is the expiry, in
-- milliseconds since 1970 as six bytes, and then the holder.

local claim_time = '>I6'
local sweep_every = 16

-- Returns the holder of a claim; nil if nobody holds it.
local function holder_of(claims, name, now)
  local entry = redis.call('HGET', claims, name)
  if not entry or struct.unpack(claim_time, entry) <= now then return nil end
  return string.sub(entry, 7)
end

-- Redis expires only whole keys, so expired claims are removed here when a hash grows.
local function remove_expired(claims, now)
  local all = redis.call('HGETALL', claims)
  for i = 1, #all, 2 do
    if struct.unpack(claim_time, all[i + 1]) <= now then redis.call('HDEL', claims, all[i]) end
  end
end

-- Stores a claim that nobody holds. The hash expires with the last of its claims.
local function hold(claims, name, holder, expires_at, now)
  redis.call('HSET', claims, name, struct.pack(claim_time, expires_at) .. holder)
  local size = redis.call('HLEN', claims)
  local at = string.format('%.0f', expires_at)
  if size == 1 then redis.call('PEXPIREAT', claims, at) else redis.call('PEXPIREAT', claims, at, 'GT') end
  if size % sweep_every == 0 then remove_expired(claims, now) end
end
