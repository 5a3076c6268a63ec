-- Answers the correlation id of a ticket that is live or was used.
-- KEYS: ticket, used

return redis.call('HGET', KEYS[1], 'correlationid') or redis.call('GET', KEYS[2])
