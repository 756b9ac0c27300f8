#!/bin/sh
# Approval: asks before it acts. The line protocol in a shell script: jq reads the turn and writes the lines.
#
# The script remembers nothing between turns. The question contains the request as a data part, and comes back in the
# turn's history. The data part has the task's id, because a history also has the other tasks of the context.
# Texts go through pipes, and never through arguments or the shell's own parsing: so no character in them has an effect,
# and their length has no limit.
set -eu
cd "$(dirname "$0")"

turn=$(head -n 1)

# Runs one of the functions of approval.jq on the turn.
with_turn() {
  printf '%s\n' "$turn" | jq -c -r -L . "include \"approval\"; $1"
}

# Does the approved work. Put your own work between the two lines: `with_turn pending` prints the request.
act() {
  with_turn 'line_status("Approved: working on it."; 0.5)'
  with_turn 'line_text("Done: " + pending), line_record, {type: "done"}'
}

case $(with_turn decision 2>/dev/null || echo broken) in
  new) with_turn 'line_ask(request; "")' ;;
  yes) act ;;
  no) with_turn '{type: "reject", reason: ("It was not approved: " + (pending | excerpt))}' ;;
  unclear) with_turn 'line_ask(pending; "I did not understand the answer. ")' ;;
  nothing) with_turn '{type: "reject", reason: "The message has no text that says what to do."}' ;;
  too-long) with_turn '{type: "reject", reason: "The request is too long to be read and approved: at most \(longest) characters."}' ;;
  lost) with_turn '{type: "fail", error: "The history does not say what was asked about, so nothing was done."}' ;;
  *) echo '{"type":"fail","error":"The turn was not understood."}' ;;
esac
