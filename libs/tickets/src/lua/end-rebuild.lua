-- Declares the claims complete, if no data was lost since the rebuild began.
-- KEYS: rebuilding, complete

local rebuilding, complete = unpack(KEYS)
if redis.call('EXISTS', rebuilding) == 0 then return redis.call('EXISTS', complete) end
redis.call('SET', complete, 1)
redis.call('DEL', rebuilding)
return 1
