-- Issues an additional ticket in the chain of a live ticket, and removes the previous additional ticket. If
-- it refuses, changes nothing. Only a holder of the live ticket can store anything with this script.
-- KEYS: the live ticket, chains (see redeem.lua), the new ticket, history, guard, then a single-use proof
-- ARGV: milliseconds of the guard and of the new ticket, proofs, maximum number of tickets in a period, the
-- period in milliseconds, fields of the new ticket, then the attempt and the milliseconds of the proof
-- Answers 'issued', 'used-proof', 'unknown', 'mismatch', or 'limited' and the milliseconds until another
-- ticket may be issued.

local live, chains, ticket, history_key, guard, proof = unpack(KEYS)
local guard_ms, ttl_ms = next_argument(), next_argument()
local proofs = next_list()
local most, within_ms = tonumber(next_argument()), tonumber(next_argument())
local fields = next_list()
local attempt, proof_ms = next_argument(), next_argument()

-- The ticket is random and was created for this request. If it exists, this request already ran and its
-- answer was lost.
if redis.call('EXISTS', ticket) == 1 then return { 'issued' } end
if is_proof_used(proof, attempt) then return { 'used-proof' } end

local correlationid, challenge, ends_at, beside, issued_at =
  unpack(redis.call('HMGET', live, 'correlationid', 'challenge', 'endsat', 'beside', 'besideat'))
if not correlationid or is_revoked(chains .. correlationid) then return { 'unknown' } end
if challenge and not contains(proofs, challenge) then return { 'mismatch' } end

-- The times of earlier issues that still count towards the limit, oldest first.
local now = now_ms()
local times = {}
for time in string.gmatch(issued_at or '', '%d+') do
  if tonumber(time) > now - within_ms then times[#times + 1] = time end
end
if #times >= most then return { 'limited', string.format('%.0f', tonumber(times[1]) + within_ms - now) } end
times[#times + 1] = string.format('%.0f', now)

use_proof(proof, attempt, proof_ms)
-- The previous and the new ticket are of the same kind, so their keys differ only in the hash at the end.
local place, name = string.match(ticket, '^(.*:)([^:]*)$')
if beside then redis.call('DEL', place .. beside) end
redis.call('HSET', live, 'beside', name, 'besideat', table.concat(times, ' '))

local history = current_history()
note_history(history_key, guard, history, guard_ms)
store(ticket, history, fields, ttl_ms, ends_at)
return { 'issued' }
