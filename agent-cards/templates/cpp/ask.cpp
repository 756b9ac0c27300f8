// Asks before it acts. The answer begins the next turn, perhaps days later and in another process.
#include "lines.h"

int main() {
  return lines::serve([](const lines::Turn& turn) {
    if (!turn.answers_question()) return turn.say("ask", {{"message", "Shall I " + turn.text() + "?"}});
    if (turn.text() != "yes") return turn.say("reject", {{"reason", "Nothing was done."}});
    const std::string task = lines::text_of(turn.line()["history"][0]);
    turn.say("artifact", {},
             {{"artifact", R"({"name": "record.txt", "parts": [{"filename": "record.txt", "text": )" +
                               lines::quoted("Done: " + task + "\n") + "}]}"}});
    turn.say("text", {{"delta", "Done."}});
    turn.say("done");
  });
}
