-- Revokes a token until it expires and appends the events of the revocation. Changes nothing if the token is
-- already revoked, or if the owner has the maximum number of revoked, unexpired tokens.
-- KEYS: list (score: sequence), ends (score: end), sequence, ends of this owner's tokens, stream, committed
-- ARGV: token id, milliseconds until it expires, maximum number of revoked tokens of an owner, events
-- Answers 'revoked', or at the maximum the milliseconds until the first revoked token of the owner expires.

local list, ends, sequence, ends_of_owner, stream, committed = unpack(KEYS)
local id, for_ms, most = next_argument(), tonumber(next_argument()), tonumber(next_argument())
local events = next_list()
local now = now_ms()

-- Removes at most a thousand expired entries, so that no call takes long. That is enough, because each call
-- adds only one entry.
local expired = redis.call('ZRANGE', ends, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000)
if #expired > 0 then
  redis.call('ZREM', ends, unpack(expired))
  redis.call('ZREM', list, unpack(expired))
end
redis.call('ZREMRANGEBYSCORE', ends_of_owner, '-inf', now)

-- This is also the answer to a request that is retried after a lost reply.
if redis.call('ZSCORE', ends, id) then return 'revoked' end
if redis.call('ZCARD', ends_of_owner) >= most then
  return tonumber(redis.call('ZRANGE', ends_of_owner, 0, 0, 'WITHSCORES')[2]) - now
end

local ends_at = string.format('%.0f', now + for_ms)
redis.call('ZADD', list, redis.call('INCR', sequence), id)
redis.call('ZADD', ends, ends_at, id)
redis.call('ZADD', ends_of_owner, ends_at, id)
-- Every key except the sequence expires with its last token.
for _, key in ipairs({ ends, ends_of_owner }) do
  redis.call('PEXPIREAT', key, redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2])
end
redis.call('PEXPIREAT', list, redis.call('PEXPIRETIME', ends))
append_events(stream, committed, events)
return 'revoked'
