-- A single-use proof counts once in each chain: its key exists from its use until the proof expires. The key
-- contains the id of the request that used it, so a request that is retried after a lost reply finds its own
-- proof.

local function is_proof_used(proof, attempt)
  local used_by = proof and redis.call('GET', proof)
  return used_by and used_by ~= attempt
end

local function use_proof(proof, attempt, for_ms)
  if proof then redis.call('SET', proof, attempt, 'PX', for_ms) end
end
