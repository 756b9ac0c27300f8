#!/usr/bin/env bash
# Repeats the message. Each turn has a process of its own: one line in, lines out. Needs jq.
set -euo pipefail
IFS= read -r turn
jq --compact-output '[.message.parts[].text // empty] | join("\n") |
  {type: "text", delta: .}, {type: "done"}' <<<"$turn"
