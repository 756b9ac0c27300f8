// Repeats the message.
#include "lines.h"

int main() {
  return lines::serve([](const lines::Turn& turn) {
    turn.say("text", {{"delta", turn.text()}});
    turn.say("done");
  });
}
