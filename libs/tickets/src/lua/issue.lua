-- Issues a ticket, with its claim and its events. If another holder has the claim, or claims are incomplete
-- after a loss of data, changes nothing.
-- KEYS: ticket, its notice, the chain's record, history, guard, stream, committed. With a claim also the hash
-- of the claim and, if claims must be complete, the marker of complete claims. With labels, which exclude a
-- claim, also the chains of each label
-- Answers 'issued', 'claimed' or 'incomplete'.

local ticket, notice, record, history_key, guard, stream, committed = unpack(KEYS)
local guard_ms = next_argument()
local ttl_ms, chain_ms = next_argument(), next_argument()
local fields = next_list()
local notice_content, notice_ms = next_argument(), next_argument()
local holder, claim_name, claim_ttl_ms = next_argument(), next_argument(), next_argument()
local joins = next_list()
local record_fields = next_list()
local events = next_list()
-- The last argument is optional: the correlation id of a chain with labels.
local labelled = next_argument()
local claims, complete
if not labelled then claims, complete = unpack(KEYS, 8) end

-- The ticket is random and was created for this request. If it exists, this request already ran and its
-- answer was lost.
if redis.call('EXISTS', ticket) == 1 then return 'issued' end

if claims then
  local now = now_ms()
  local held_by = holder_of(claims, claim_name, now)
  if held_by and not contains(joins, held_by) then return 'claimed' end
  -- Claims are still being restored after a loss of data, and this claim may be among them.
  if complete and redis.call('EXISTS', complete) == 0 then return 'incomplete' end
  if not held_by then hold(claims, claim_name, holder, now + tonumber(claim_ttl_ms), now) end
end

-- No refusal follows: from here on, the ticket is issued.
local history = current_history()
note_history(history_key, guard, history, guard_ms)
local ends_at = end_after(chain_ms)
store(ticket, history, fields, ttl_ms, ends_at)
if notice_content ~= '' then redis.call('SET', notice, notice_content, 'PX', notice_ms) end
if #record_fields > 0 then
  redis.call('HSET', record, unpack(record_fields))
  redis.call('PEXPIREAT', record, ends_at)
end
if labelled then
  local now = now_ms()
  for i = 8, #KEYS do label(KEYS[i], labelled, ends_at, now) end
end
append_events(stream, committed, events)
return 'issued'
