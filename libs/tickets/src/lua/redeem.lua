-- Uses a ticket up and issues its successor, or changes nothing of them.
-- KEYS: ticket, used, answer, history, guard, stream, committed, then the successor if there is one
-- Answers an outcome and what belongs to it.

local ticket, used, answer, history_key, guard, stream, committed, successor = unpack(KEYS)
local guard_ms, used_ms, remember_ms = next_argument(), next_argument(), next_argument()
local proofs = next_list()
local successor_ttl_ms = next_argument()
local successor_fields = next_list()
local events = next_list()

local used_by = redis.call('GET', used)
if used_by then
  -- `answer` is named by the request. Where it exists, this very request was the winner and its reply was lost.
  local won = redis.call('HMGET', answer, 'correlationid', 'context', 'detail')
  if won[1] then return { 'redeemed', unpack(won) } end
  return { 'used', used_by }
end

local correlationid, context, detail, challenge, born =
  unpack(redis.call('HMGET', ticket, 'correlationid', 'context', 'detail', 'challenge', 'history'))
if not correlationid then return { 'unknown' } end
if challenge and not contains(proofs, challenge) then return { 'mismatch', correlationid } end

-- A ticket from before a promotion or a restart may have been used there, by a write that did not come along. It is
-- refused until launch tokens of that time have expired. Tickets issued since are not concerned.
local history = current_history()
if born ~= history then
  note_history(history_key, guard, history, guard_ms)
  local guard_left_ms = redis.call('PTTL', guard)
  if guard_left_ms > 0 then return { 'guarded', tostring(guard_left_ms) } end
end

-- The moment of redemption.
if not redis.call('SET', used, correlationid, 'PX', used_ms, 'NX') then return { 'used', correlationid } end

-- The ticket becomes the remembered answer, under a name that only a repetition of this request knows.
redis.call('RENAME', ticket, answer)
redis.call('PEXPIRE', answer, remember_ms)
if successor then
  redis.call('HSET', successor, 'history', history, 'correlationid', correlationid, 'context', context,
    unpack(successor_fields))
  redis.call('PEXPIRE', successor, successor_ttl_ms)
end
append_events(stream, committed, events, correlationid)
return { 'redeemed', correlationid, context, detail }
