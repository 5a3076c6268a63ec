-- Stores claims that nobody holds.
-- KEYS: the claims
-- ARGV: for each its holder, and when it expires in milliseconds since 1970

for i, claim in ipairs(KEYS) do redis.call('SET', claim, ARGV[2 * i - 1], 'NX', 'PXAT', ARGV[2 * i]) end
return 'held'
