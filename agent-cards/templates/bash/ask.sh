#!/usr/bin/env bash
# Asks before it acts. The answer starts the next turn, perhaps days later and in another process. Needs jq.
set -euo pipefail
# The schema of an answer. Chat pages show it as a form; Baton refuses an answer that does not match.
approval='{"type": "object", "required": ["approved"], "properties": {
  "approved": {"type": "boolean", "title": "Approve?"}, "reason": {"type": "string", "title": "Why, or why not"}}}'
IFS= read -r turn
jq --compact-output --argjson approval "$approval" '
  def said: [.parts[].text // empty] | join("\n");
  ([.message.parts[].data // empty] | first // {}) as $answer |
  if .resume.ask == null then {type: "ask", message: "Shall I \(.message | said)?", schema: $approval}
  elif $answer.approved != true then {type: "reject", reason: ($answer.reason // "Nothing was done.")}
  else {type: "artifact", artifact: {name: "record.txt", parts: [{
          raw: ("Done: \(.request | said)\n" | @base64), filename: "record.txt"}]}},
       {type: "text", delta: "Done."}, {type: "done"} end' <<<"$turn"
