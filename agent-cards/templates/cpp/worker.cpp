// One process for many turns at the same time, each on a thread of its own.
#include <chrono>
#include <sstream>

#include "lines.h"

int main() {
  return lines::serve([](const lines::Turn& turn) {
    std::istringstream words(turn.text());
    int number = 0;
    for (std::string word; words >> word;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      turn.say("text", {{"delta", std::to_string(++number) + ": " + word + "\n"}});
    }
    turn.say("done");
  });
}
