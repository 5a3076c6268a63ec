-- Answers 1 if the chain is revoked, and otherwise 0.
-- KEYS: chain

return redis.call('EXISTS', KEYS[1])
