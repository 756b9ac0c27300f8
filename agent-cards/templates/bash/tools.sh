#!/usr/bin/env bash
# Adds the numbers of a message and of its files with a tool that callers see, and returns a file. Needs jq.
set -euo pipefail
IFS= read -r turn
jq --compact-output '[.message.parts[] | .text // (.raw // empty | @base64d)] as $texts |
  [$texts[] | match("-?[0-9]{1,15}"; "g").string | tonumber] as $numbers | ($numbers | add // 0) as $sum |
  "add-\(.turn)-\(.attempt)" as $id |
  {type: "tool-call", id: $id, name: "add", arguments: {numbers: $numbers}},
  {type: "tool-result", id: $id, content: {sum: $sum}},
  {type: "artifact", artifact: {name: "sum.csv", parts: [{
    raw: ([$numbers[], $sum | "\(.)\n"] | join("") | @base64), filename: "sum.csv", mediaType: "text/csv"}]}},
  {type: "text", delta: "The sum is \($sum)."}, {type: "done"}' <<<"$turn"
