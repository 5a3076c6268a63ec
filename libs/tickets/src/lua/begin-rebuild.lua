-- Marks that claims are being rebuilt. If Redis loses its data during the rebuild, it loses this mark too.
-- KEYS: rebuilding
-- ARGV: milliseconds that a rebuild may take

redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return 'begun'
