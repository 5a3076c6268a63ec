-- Answers what is known of a chain beside its tickets.
-- KEYS: record

return redis.call('HMGET', KEYS[1], 'owner', 'audience')
