#!/usr/bin/env bash
# Adds the numbers of a message with a tool of its own, which callers see at work. Needs jq.
set -euo pipefail
IFS= read -r turn
jq --compact-output '([.message.parts[].text // empty] | join(" ")) as $said |
  [$said | match("-?[0-9]{1,15}"; "g").string | tonumber] as $numbers | ($numbers | add // 0) as $sum |
  "add-\(.turn)-\(.attempt)" as $id |
  {type: "tool-call", id: $id, name: "add", arguments: {numbers: $numbers}},
  {type: "tool-result", id: $id, content: {sum: $sum}},
  {type: "text", delta: "The sum is \($sum)."}, {type: "done"}' <<<"$turn"
