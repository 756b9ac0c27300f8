-- Makes requests from a text: replaces "@ID@" in the body by a new id for each request, and "@TASK@" by a random id
-- from a file.
--   wrk ... -s requests.lua URL -- BODY_FILE|- [IDS_FILE|-] [refusals|MS]
-- Without a body the requests are GETs. With "refusals", counts JSON-RPC errors, which makes wrk slower. With MS, each
-- connection waits MS milliseconds on average before a request. Ends with a line "RESULT {json}".
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("number", #threads)
end

local function text_of(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function start_of_ids()
  local random = assert(io.open("/dev/urandom", "rb"))
  local bytes = random:read(8)
  random:close()
  return (bytes:gsub(".", function(c) return string.format("%02x", c:byte()) end))
end

-- Ids have a constant length, so that the request's head never changes.
local id_format
local counter = 0
local function next_id()
  counter = counter + 1
  return string.format(id_format, counter)
end

local ids = {}
local function any_task() return ids[math.random(#ids)] end

local pieces, makers = {}, {}

-- Splits the request at the places of replacements.
local function cut(text)
  local at = 1
  while true do
    local first, last, mark = text:find("@(%u+)@%-*", at)
    pieces[#pieces + 1] = text:sub(at, first and first - 1)
    if not first then return end
    makers[#makers + 1] = mark == "ID" and next_id or any_task
    at = last + 1
  end
end

function init(args)
  id_format = start_of_ids() .. string.format("-%02d-", number) .. "%010d"
  math.randomseed(number * 7919 + os.time())
  if args[2] and args[2] ~= "-" then
    for id in text_of(args[2]):gmatch("%S+") do ids[#ids + 1] = id end
  end
  if args[3] == "refusals" then
    refused = 0
    function response(_, _, body)
      if body:find('"error":', 1, true) then refused = refused + 1 end
    end
  end
  local pause = tonumber(args[3])
  if pause then
    -- A random pause, so that connections do not send simultaneously.
    function delay() return math.random(0, 2 * pause) end
  end
  if args[1] == "-" then
    cut(wrk.format("GET"))
    return
  end
  -- The marks are as long as their replacements, because wrk computes the body's length.
  local function widened(mark, width) return mark .. string.rep("-", width - #mark) end
  local body = text_of(args[1]):gsub("@ID@", widened("@ID@", #next_id()))
  if #ids > 0 then body = body:gsub("@TASK@", widened("@TASK@", #ids[1])) end
  cut(wrk.format("POST", nil, nil, body))
end

function request()
  local text = pieces[1]
  for i, make in ipairs(makers) do text = text .. make() .. pieces[i + 1] end
  return text
end

function done(summary, latency)
  local errors, refusals = summary.errors, 0
  for _, thread in ipairs(threads) do refusals = refusals + (thread:get("refused") or 0) end
  print(string.format(
    'RESULT {"count":%d,"seconds":%.6f,"bytes":%d,"p50_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f,"failures":%d,"refused":%d}',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    refusals))
end
