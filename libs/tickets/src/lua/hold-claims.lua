-- Stores claims that nobody holds.
-- KEYS: for each claim its hash
-- ARGV: for each claim its name, its holder, and its expiry in milliseconds since 1970

local now = now_ms()
for i, claims in ipairs(KEYS) do
  local name, holder, expires_at = ARGV[3 * i - 2], ARGV[3 * i - 1], tonumber(ARGV[3 * i])
  if expires_at > now and not holder_of(claims, name, now) then hold(claims, name, holder, expires_at, now) end
end
return 'held'
