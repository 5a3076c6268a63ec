-- Starts the failover guard when data is first read under a different history of Redis (see redeem.lua).
local function note_history(key, guard, history, guard_ms)
  if redis.call('GET', key) == history then return end
  redis.call('SET', key, history)
  redis.call('SET', guard, 1, 'PX', guard_ms)
end
