-- Answers the record of a chain.
-- KEYS: record

return redis.call('HMGET', KEYS[1], 'owner', 'audience')
