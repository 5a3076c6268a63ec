-- Answers the correlation ids of the chains that have all of these labels, and have not ended or been revoked.
-- KEYS: chains (see redeem.lua), then the chains of each label. The first label should have the fewest chains

local chains, first = unpack(KEYS)
local found = {}

local function has_other_labels(correlationid)
  for i = 3, #KEYS do
    if not redis.call('ZSCORE', KEYS[i], correlationid) then return false end
  end
  return true
end

local now = string.format('(%.0f', now_ms())
for _, correlationid in ipairs(redis.call('ZRANGE', first, now, '+inf', 'BYSCORE')) do
  if has_other_labels(correlationid) and not is_revoked(chains .. correlationid) then
    found[#found + 1] = correlationid
  end
end
return found
