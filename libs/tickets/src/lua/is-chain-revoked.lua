-- KEYS: chain

return redis.call('EXISTS', KEYS[1])
