-- Notes that claims are being rebuilt. Data that is lost meanwhile takes the note along.
-- KEYS: rebuilding
-- ARGV: milliseconds that a rebuild may take

redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return 'begun'
