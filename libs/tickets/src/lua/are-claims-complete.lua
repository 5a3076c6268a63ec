-- KEYS: complete

return redis.call('EXISTS', KEYS[1])
