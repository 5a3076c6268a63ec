-- Returns the unused part of a lease.
-- KEYS: leases (see lease.lua)
-- ARGV: id, number of unused requests

local id, unused = ARGV[1], tonumber(ARGV[2])
for _, lease in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local its_id, granted = string.match(lease, '^(%S+) (%d+)$')
  if its_id == id then
    local until_ms = redis.call('ZSCORE', KEYS[1], lease)
    redis.call('ZREM', KEYS[1], lease)
    if tonumber(granted) > unused then
      redis.call('ZADD', KEYS[1], until_ms, id .. ' ' .. (tonumber(granted) - unused))
    end
  end
end
return 'returned'
