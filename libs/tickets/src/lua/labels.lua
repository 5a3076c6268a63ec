-- The chains of a label are a sorted set of correlation ids, each with the end of its chain as its score.

-- Adds a chain, and removes chains that have ended. The set expires with its last chain.
local function label(chains, correlationid, ends_at, now)
  redis.call('ZREMRANGEBYSCORE', chains, '-inf', now)
  redis.call('ZADD', chains, ends_at, correlationid)
  -- A new set has no expiry, which `GT` never replaces.
  if redis.call('PEXPIREAT', chains, ends_at, 'GT') == 0 then
    redis.call('PEXPIREAT', chains, ends_at, 'NX')
  end
end
