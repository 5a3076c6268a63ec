-- Marks that claims are being rebuilt. If data is lost during the rebuild, the mark is lost too.
-- KEYS: rebuilding
-- ARGV: milliseconds that a rebuild may take

redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return 'begun'
