-- Issues a ticket, with its claim and its events, or changes nothing of them.
-- KEYS: ticket, history, guard, stream, committed, then the claim if there is one
-- Answers 'issued' or 'claimed'.

local ticket, history_key, guard, stream, committed, claim = unpack(KEYS)
local guard_ms = next_argument()
local ttl_ms = next_argument()
local fields = next_list()
local holder, claim_ttl_ms = next_argument(), next_argument()
local joins = next_list()
local events = next_list()

-- The ticket is random and was drawn for this request alone: if it is here, then so was this request, and its
-- answer was lost on the way.
if redis.call('EXISTS', ticket) == 1 then return 'issued' end

if claim then
  local held_by = redis.call('GET', claim)
  if held_by and not contains(joins, held_by) then return 'claimed' end
  if not held_by then redis.call('SET', claim, holder, 'PX', claim_ttl_ms, 'NX') end
end

-- Nothing is refused from here on.
local history = current_history()
note_history(history_key, guard, history, guard_ms)
redis.call('HSET', ticket, 'history', history, unpack(fields))
redis.call('PEXPIRE', ticket, ttl_ms)
append_events(stream, committed, events)
return 'issued'
