-- Uses up a ticket and issues its successor. A refusal changes nothing, except that a wrong proof may be
-- counted, and that a replay, or the wrong proof that reaches the limit, may revoke the chain.
-- KEYS: ticket, its notice, used, answer, chains, history, guard, stream, committed. If requested, also the
-- successor, `repeatable`, a single-use proof and the number of redemptions
-- Answers an outcome and its content, or a refusal with the notice of the ticket.

local ticket, notice, used, answer, chains, history_key, guard, stream, committed = unpack(KEYS)
local read_keys = 9

-- Returns the next optional key. The request contains this key unless `argument` is empty.
local function next_key_with(argument)
  if argument == '' then return nil end
  read_keys = read_keys + 1
  return KEYS[read_keys]
end

local guard_ms, remember_ms = next_argument(), next_argument()
-- The lifetime of the used-marker, and whether the marker expires with the chain instead.
local used_ms, ends_with_chain = next_argument(), next_argument() == '1'
local proofs = next_list()
local successor_ttl_ms, chain_ms = next_argument(), next_argument()
local successor = next_key_with(successor_ttl_ms)
local successor_fields = next_list()
local events = next_list()
local repeatable_ms, after_use_ms, derived_by = next_argument(), next_argument(), next_argument()
local repeatable = next_key_with(repeatable_ms)
local attempt, proof_ms = next_argument(), next_argument()
local proof = next_key_with(proof_ms)
local most_redemptions = next_argument()
local redemptions = next_key_with(most_redemptions)
-- The last arguments are optional: they revoke the chain after a replay or after too many wrong proofs.
local revoke_ms = next_argument()
local replay_events = revoke_ms and next_list()
if revoke_ms == '' then revoke_ms = nil end
local mismatch_limit = next_argument()
local mismatch_ms = mismatch_limit and next_argument()
local mismatch_events = mismatch_limit and next_list()

-- The key of a chain is computed here, because only the ticket contains its correlation id. An earlier lookup
-- would need a second round trip. `chains` is the prefix of the key. The prefix includes the hash tag, so the
-- key is in the same slot as the other keys.
local function chain_of(correlationid)
  return chains .. correlationid
end

-- Returns a refusal with the notice, so that the caller needs no second round trip.
local function refused(outcome)
  return { outcome, redis.call('GET', notice) or nil }
end

local function is_exhausted()
  return redemptions and tonumber(redis.call('GET', redemptions) or 0) >= tonumber(most_redemptions)
end

local function count_redemption(ends_at)
  if not redemptions then return end
  redis.call('INCR', redemptions)
  if ends_at then redis.call('PEXPIREAT', redemptions, ends_at) else redis.call('PEXPIRE', redemptions, used_ms) end
end

local function is_proven(challenge)
  return not challenge or contains(proofs, challenge)
end

-- Follows the successors of a used ticket to the first that is unused. Returns the ids of the keys that derived
-- them, or nil if the first successor was used too long ago. Only a service can derive the tickets themselves.
local function keys_to_unused(redemption)
  local key_ids = {}
  while true do
    local key_id, next_ticket = unpack(redis.call('HMGET', redemption, 'derivedby', 'successor'))
    key_ids[#key_ids + 1] = key_id
    -- A redemption by the previous release names no successor.
    if not next_ticket or redis.call('HMGET', next_ticket, 'correlationid')[1] then
      return table.concat(key_ids, ' ')
    end
    redemption = string.gsub(next_ticket, '}:ticket:', '}:repeatable:')
    local used_at = redis.call('HMGET', redemption, 'redeemedat')[1]
    if not used_at or now_ms() - used_at >= tonumber(after_use_ms) then return nil end
  end
end

-- Counts a wrong proof once per request: a request that is retried after a lost reply finds its `answer`.
local function count_mismatch(correlationid)
  if redis.call('EXISTS', answer) == 1 then return end
  redis.call('HSET', answer, 'outcome', 'mismatch', 'correlationid', correlationid)
  redis.call('PEXPIRE', answer, remember_ms)
  if redis.call('HINCRBY', ticket, 'mismatches', 1) < tonumber(mismatch_limit) then return end
  redis.call('SET', used, correlationid, 'PX', used_ms, 'NX')
  redis.call('DEL', ticket)
  if revoke(chain_of(correlationid), mismatch_ms) then
    append_events(stream, committed, mismatch_events)
  end
end

-- The proof is checked first, because a request with a used proof must not redeem or revoke anything.
if is_proof_used(proof, attempt) then return { 'used-proof' } end

local used_by = redis.call('GET', used)
if used_by then
  -- The key `answer` identifies the request. If it exists, this request was already answered and the reply
  -- was lost.
  local given = redis.call('HMGET', answer, 'outcome', 'correlationid', 'context', 'detail', 'derivedby', 'endsat')
  if given[2] then return { given[1] or 'redeemed', given[2], left_ms(given[6]), unpack(given, 3, 5) } end

  if repeatable and not is_revoked(chain_of(used_by)) then
    local first = redis.call('HMGET', repeatable, 'correlationid', 'context', 'detail', 'challenge', 'endsat')
    local key_ids = first[1] and is_proven(first[4]) and keys_to_unused(repeatable)
    if key_ids then
      if is_exhausted() then return { 'exhausted', '', left_ms(first[5]) } end
      redis.call('COPY', repeatable, answer)
      redis.call('HSET', answer, 'outcome', 'repeated', 'derivedby', key_ids)
      redis.call('PEXPIRE', answer, remember_ms)
      use_proof(proof, attempt, proof_ms)
      count_redemption(first[5])
      return { 'repeated', first[1], left_ms(first[5]), first[2], first[3], key_ids }
    end
  end

  if revoke_ms and revoke(chain_of(used_by), revoke_ms) then
    append_events(stream, committed, replay_events)
  end
  return refused('used')
end

local correlationid, context, detail, challenge, born, ends_at =
  unpack(redis.call('HMGET', ticket, 'correlationid', 'context', 'detail', 'challenge', 'history', 'endsat'))
if not correlationid or not context or is_revoked(chain_of(correlationid)) then return refused('unknown') end
if not is_proven(challenge) then
  if mismatch_limit then count_mismatch(correlationid) end
  return refused('mismatch')
end

if is_exhausted() then return { 'exhausted', '', left_ms(ends_at) } end

-- A ticket from before a promotion or a restart of Redis may have been used by a write that was lost. It is
-- refused until launch tokens of that time have expired. Newer tickets are not affected.
local history = current_history()
if born ~= history then
  note_history(history_key, guard, history, guard_ms)
  local guard_left_ms = redis.call('PTTL', guard)
  if guard_left_ms > 0 then return { 'guarded', tostring(guard_left_ms) } end
end

local begins_end = not ends_at and end_after(chain_ms)
ends_at = ends_at or begins_end
-- Setting the used-marker redeems the ticket.
local marker_ends = ends_with_chain and ends_at and { 'PXAT', ends_at } or { 'PX', used_ms }
if not redis.call('SET', used, correlationid, 'NX', unpack(marker_ends)) then return refused('used') end

count_redemption(ends_at)
use_proof(proof, attempt, proof_ms)
-- The ticket becomes the stored answer, under a name that only a retry of this request can compute.
redis.call('RENAME', ticket, answer)
if begins_end then redis.call('HSET', answer, 'endsat', begins_end) end
if repeatable then
  -- The answer is also stored, for the requested time, under a name that every holder of the ticket can
  -- compute.
  redis.call('COPY', answer, repeatable)
  redis.call('HSET', repeatable, 'derivedby', derived_by, 'successor', successor,
    'redeemedat', string.format('%.0f', now_ms()))
  expire(repeatable, repeatable_ms, ends_at)
end
redis.call('PEXPIRE', answer, remember_ms)
if successor then
  local inherited = { 'correlationid', correlationid, 'context', context, unpack(successor_fields) }
  store(successor, history, inherited, successor_ttl_ms, ends_at)
end
append_events(stream, committed, events)
return { 'redeemed', correlationid, left_ms(ends_at), context, detail }
