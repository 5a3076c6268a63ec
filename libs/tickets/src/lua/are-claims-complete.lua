-- Answers 1 if the shard contains every recorded claim, and otherwise 0.
-- KEYS: complete

return redis.call('EXISTS', KEYS[1])
