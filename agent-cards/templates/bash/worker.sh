#!/usr/bin/env bash
# One process for many turns, one after the other. Every line names its turn. Needs jq.
set -euo pipefail
while IFS= read -r line; do
  jq --compact-output 'select(.type == "turn") | .turn as $turn |
    [.message.parts[].text // empty | split("\\s+"; null)[] | select(. != "")] as $words |
    (range($words | length) | {type: "text", turn: $turn, delta: "\(. + 1): \($words[.])\n"}),
    {type: "done", turn: $turn}' <<<"$line"
done
