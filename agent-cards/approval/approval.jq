# The decisions of the approval agent, as functions of a turn line.

def longest: 10000;

def text_of: [.parts[] | select(has("text")) | .text] | join("\n");
def request: .message | text_of;
def excerpt: if length > 200 then "\"\(.[:200])…\" (\(length) characters)" else "\"\(.)\"" end;

# The request that this task last asked about, or null.
def pending:
  .task.id as $task
  | [.history[]? | select(.role == "ROLE_AGENT" or .role == "agent") | .parts[]?
     | .data? | objects | .approval? | objects | select(.task == $task) | .action | strings]
  | last;

def yes_words: ["yes", "y", "yeah", "yep", "ok", "okay", "sure", "approve", "approved", "true", "ja", "jawohl",
  "oui", "si", "sí", "はい", "是", "是的", "好", "好的", "好吧", "行", "对", "对的", "可以", "可以的", "同意", "批准", "确认", "没问题"];
def fillers: ["please", "thanks", "thank", "you", "go", "ahead", "do", "it", "bitte", "danke", "请", "谢谢"];
def no_words: ["no", "n", "nope", "not", "never", "don't", "don’t", "stop", "reject", "rejected", "deny", "false",
  "nein", "nicht", "non", "いいえ"];

# "yes", "no" or "unclear". A yes must contain only words that mean yes, and fillers, because the agent acts on it. A no
# only has to begin with a word that means no, and contain none that means yes.
def answer_in_text:
  [.[:200] | ascii_downcase | splits("[\\s,.;:!。，！、；：]+") | select(. != "")] as $words
  | ($words[0] // "") as $first
  | if length > 200 or any($words[]; test("[?？]")) then "unclear"
    elif (yes_words | index([$first])) and ($words - yes_words - fillers) == [] then "yes"
    elif ((no_words | index([$first])) or ($first | test("^([不别否]|拒绝|取消)")))
         and ($words - yes_words) == $words then "no"
    else "unclear" end;

# {"approved": true|false} takes precedence over words: as data, or as the text that chat pages make of a tool's result.
# {"cancelled": true} means that the question gets no answer, which counts as a no.
def answer:
  [.message.parts[] | .data?, (.text? | fromjson?) | objects | select(has("approved") or .cancelled == true)
   | if .cancelled == true then false else .approved end] as $given
  | if $given == [] then (.message | text_of | answer_in_text)
    elif all($given[]; . == true) then "yes"
    elif all($given[]; . == false) then "no"
    else "unclear" end;

def decision:
  if .resume then (if pending == null then "lost" else answer end)
  elif (request | length) > longest then "too-long"
  elif (request | test("\\S") | not) then "nothing"
  else "new" end;

def line_status($message; $progress): {type: "status", message: $message, progress: $progress};
def line_text($delta): {type: "text", delta: $delta};

def line_ask($action; $before): {
  type: "ask",
  message: {parts: [
    {text: "\($before)Shall I do this: \($action | excerpt)? (yes/no)"},
    {data: {approval: {task: .task.id, action: $action}}}
  ]},
  schema: {
    type: "object",
    properties: {approved: {type: "boolean", description: "Whether the agent shall act"}},
    required: ["approved"]
  }
};

def line_record: {
  type: "artifact",
  artifact: {
    artifactId: "\(.task.id)-record",
    name: "record",
    description: "What was approved and done",
    parts: [{data: {action: pending, approved: true}}]
  },
  lastChunk: true
};
