-- The functions at the start of most scripts. They read the arguments, the clock of Redis and the history of
-- the data, and append to the outbox.

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

local function now_ms()
  local now = redis.call('TIME')
  return tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
end

-- Reports a shard whose stream was empty to the relays (redis-wakes.ts). They drain a shard until it is
-- empty, so a stream that was not empty needs no report. If the user has no right to publish, the events are
-- appended without a report, and the relays find them when they poll.
local function append_reported(stream, events)
  local was_empty = redis.pcall('XLEN', stream) == 0
  for _, event in ipairs(events) do redis.call('XADD', stream, '*', 'event', event) end
  if not was_empty then return end
  local prefix, shard, name = string.match(stream, '^(.*){s(%d+)}:(.*)$')
  redis.pcall('PUBLISH', prefix .. 'waiting:' .. name, shard)
end

-- Appends events to the outbox in the same step as the change that they report. The counter `committed` never
-- decreases, so it can be compared with the number of published events.
local function append_events(stream, committed, events)
  if #events == 0 then return end
  append_reported(stream, events)
  redis.call('INCRBY', committed, #events)
end

-- The replication id identifies an unbroken history of writes. It changes after a promotion and after a
-- restart. In both cases an acknowledged write may be missing.
local function current_history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
