#!/usr/bin/env bash
# Asks before it acts. The answer begins the next turn, perhaps days later and in another process. Needs jq.
set -euo pipefail
IFS= read -r turn
jq --compact-output '([.message.parts[].text // empty] | join("\n")) as $said |
  if .resume.ask == null then {type: "ask", message: "Shall I \($said)?"}
  elif ($said | ascii_downcase | gsub("\\s"; "")) != "yes" then {type: "reject", reason: "Nothing was done."}
  else {type: "artifact", artifact: {name: "record.txt", parts: [{
          text: "Done: \(.history[0].parts[0].text)\n", filename: "record.txt"}]}},
       {type: "text", delta: "Done."}, {type: "done"} end' <<<"$turn"
