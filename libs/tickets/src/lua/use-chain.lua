-- Counts a use of a chain and appends its events. If the proof was used before or the limit is reached,
-- changes nothing.
-- KEYS: uses, a single-use proof or the name of the request, stream, committed
-- ARGV: attempt, milliseconds of the proof, maximum number of uses in a window, the window in milliseconds,
-- events
-- Answers 'accepted', 'used-proof', or 'limited' and the milliseconds until the chain may be used again.

local uses, proof, stream, committed = unpack(KEYS)
local attempt, proof_ms = next_argument(), next_argument()
local most, within_ms = tonumber(next_argument()), next_argument()
local events = next_list()

if is_proof_used(proof, attempt) then return { 'used-proof' } end
-- If the proof exists here, this request already ran and its answer was lost.
if redis.call('EXISTS', proof) == 1 then return { 'accepted' } end
if tonumber(redis.call('GET', uses) or 0) >= most then
  return { 'limited', string.format('%.0f', math.max(redis.call('PTTL', uses), 1)) }
end

-- The first use starts the window in which uses are counted.
if redis.call('INCR', uses) == 1 then redis.call('PEXPIRE', uses, within_ms) end
use_proof(proof, attempt, proof_ms)
append_events(stream, committed, events)
return { 'accepted' }
