// Asks before it acts. The answer starts the next turn, perhaps days later and in another process.
#include "lines.h"

namespace {

// The schema of an answer. Chat pages show it as a form; Baton refuses an answer that does not match.
constexpr char kApproval[] = R"({"type": "object", "required": ["approved"], "properties": {
  "approved": {"type": "boolean", "title": "Approve?"}, "reason": {"type": "string", "title": "Why, or why not"}}})";

}  // namespace

int main() {
  return lines::serve([](const lines::Turn& turn) {
    if (!turn.answers_question()) {
      return turn.say("ask", {{"message", "Shall I " + turn.text() + "?"}},
                      {{"schema", lines::one_line(kApproval)}});
    }
    const lines::Value& answer = turn.data();
    if (!answer.IsObject() || !answer.HasMember("approved") || !answer["approved"].IsTrue()) {
      const bool says_why = answer.IsObject() && answer.HasMember("reason");
      return turn.say("reject", {{"reason", says_why ? answer["reason"].GetString() : "Nothing was done."}});
    }
    const std::string record = "Done: " + lines::text_of(turn.request()) + "\n";
    turn.say("artifact", {}, {{"artifact", lines::file("record.txt", "text/plain", record)}});
    turn.say("text", {{"delta", "Done."}});
    turn.say("done");
  });
}
