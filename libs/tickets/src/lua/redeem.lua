-- Uses a ticket up and issues its successor, or changes nothing of them. A replay may revoke the chain.
-- KEYS: ticket, used, answer, chains, history, guard, stream, committed, then the successor and `repeatable` where they
-- are asked for
-- Answers an outcome and what belongs to it.

local ticket, used, answer, chains, history_key, guard, stream, committed, successor, repeatable = unpack(KEYS)
local guard_ms, used_ms, remember_ms = next_argument(), next_argument(), next_argument()
local proofs = next_list()
local successor_ttl_ms = next_argument()
local successor_fields = next_list()
local events = next_list()
-- These are there only where they are asked for.
local repeatable_ms, derived_by
if repeatable then repeatable_ms, derived_by = next_argument(), next_argument() end
local revoke_ms = next_argument()
local replay_events = revoke_ms and next_list()

-- The key of a chain is computed here, since only the ticket says its correlation id and a look-up before would be a
-- second round trip. `chains` is the beginning of its name, hash tag included: it is in the slot of the other keys.
local function chain_of(correlationid)
  return chains .. correlationid
end

local function is_proven(challenge)
  return not challenge or contains(proofs, challenge)
end

local used_by = redis.call('GET', used)
if used_by then
  -- `answer` is named by the request. Where it exists, this very request was answered, and the reply was lost.
  local given = redis.call('HMGET', answer, 'outcome', 'correlationid', 'context', 'detail', 'derivedby')
  if given[2] then return { given[1] or 'redeemed', unpack(given, 2, 5) } end

  if repeatable and not is_revoked(chain_of(used_by)) then
    local first = redis.call('HMGET', repeatable, 'correlationid', 'context', 'detail', 'derivedby', 'challenge')
    if first[1] and is_proven(first[5]) then
      redis.call('COPY', repeatable, answer)
      redis.call('HSET', answer, 'outcome', 'repeated')
      redis.call('PEXPIRE', answer, remember_ms)
      return { 'repeated', unpack(first, 1, 4) }
    end
  end

  if revoke_ms and revoke(chain_of(used_by), revoke_ms) then
    append_events(stream, committed, replay_events, used_by)
  end
  return { 'used', used_by }
end

local correlationid, context, detail, challenge, born =
  unpack(redis.call('HMGET', ticket, 'correlationid', 'context', 'detail', 'challenge', 'history'))
if not correlationid or is_revoked(chain_of(correlationid)) then return { 'unknown' } end
if not is_proven(challenge) then return { 'mismatch', correlationid } end

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
if repeatable then
  -- And under one that whoever has the ticket knows, for as long as that is asked.
  redis.call('COPY', answer, repeatable)
  redis.call('HSET', repeatable, 'derivedby', derived_by)
  redis.call('PEXPIRE', repeatable, repeatable_ms)
end
redis.call('PEXPIRE', answer, remember_ms)
if successor then
  redis.call('HSET', successor, 'history', history, 'correlationid', correlationid, 'context', context,
    unpack(successor_fields))
  redis.call('PEXPIRE', successor, successor_ttl_ms)
end
append_events(stream, committed, events, correlationid)
return { 'redeemed', correlationid, context, detail }
