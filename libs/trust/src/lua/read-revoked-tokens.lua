-- Reads the new entries of the list of revoked tokens.
-- KEYS: list, ends, sequence
-- ARGV: history and sequence of the entry that was read last, maximum number of entries
-- Answers history, sequence, and 1 if there are more entries. Then follow the token id of each entry and the
-- milliseconds until the token expires.

local list, ends, sequence = unpack(KEYS)
local known_history, after, most = next_argument(), next_argument(), tonumber(next_argument())
local history = current_history()
-- After a promotion or a restart of Redis, the sequence may be lower, so all entries are read again.
if known_history ~= history then after = '0' end

local last = redis.call('GET', sequence) or '0'
if last == after then return { history, last, 0 } end
local added = redis.call('ZRANGE', list, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
local ids = {}
for i = 1, #added, 2 do table.insert(ids, added[i]) end
local has_more = #ids == most
if has_more then last = added[#added] end

local page = { history, last, has_more and 1 or 0 }
if #ids == 0 then return page end
local now = now_ms()
for i, ends_at in ipairs(redis.call('ZMSCORE', ends, unpack(ids))) do
  local left = ends_at and tonumber(ends_at) - now or 0
  if left > 0 then
    table.insert(page, ids[i])
    table.insert(page, left)
  end
end
return page
