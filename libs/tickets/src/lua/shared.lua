-- The beginning of the scripts that issue, redeem and append.

local position = 0

local function next_argument()
  position = position + 1
  return ARGV[position]
end

-- A list is sent as its length, then its items.
local function next_list()
  local list = {}
  for i = 1, tonumber(next_argument()) do list[i] = next_argument() end
  return list
end

local function contains(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then return true end
  end
  return false
end

-- Events enter the outbox in the same step as the change that they report. The counter is never lowered, so
-- it can be compared with the number of events that arrived.
local function append_events(stream, committed, events)
  for _, event in ipairs(events) do redis.call('XADD', stream, '*', 'event', event) end
  if #events > 0 then redis.call('INCRBY', committed, #events) end
end

-- The replication id identifies an unbroken line of writes. It changes after a promotion and after a restart:
-- in both cases an acknowledged write may be missing.
local function current_history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Starts the guard when this data is first read under a different history.
local function note_history(key, guard, history, guard_ms)
  if redis.call('GET', key) == history then return end
  redis.call('SET', key, history)
  redis.call('SET', guard, 1, 'PX', guard_ms)
end
