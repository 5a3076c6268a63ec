-- KEYS: the markers of this release and of the previous one

return redis.call('EXISTS', unpack(KEYS))
