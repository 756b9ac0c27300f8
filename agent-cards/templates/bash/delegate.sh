#!/usr/bin/env bash
# Delegates each line of a message to a child task, all at the same time. Here the agent delegates to itself, and
# upper-cases a single line. `wait` ends the turn; the next one starts with the results. Needs jq.
set -euo pipefail
IFS= read -r turn
jq --compact-output '([.message.parts[].text // empty] | join("\n")) as $said | ($said | split("\n")) as $lines |
  if ($lines | length) < 2 then {type: "text", delta: ($said | ascii_upcase)}, {type: "done"}
  elif .resume.results == null then
    (.agent as $agent | range($lines | length) | {type: "delegate", id: "line-\(.)", agent: $agent, message: $lines[.]}),
    {type: "wait"}
  elif any(.resume.results[]; .error) then {type: "fail", error: "A line could not be done."}
  else {type: "text", delta: ([.resume.results | sort_by(.id | ltrimstr("line-") | tonumber)[] |
          [.task.artifacts[]?.parts[].text // empty] | join("")] | join("\n"))}, {type: "done"} end' <<<"$turn"
