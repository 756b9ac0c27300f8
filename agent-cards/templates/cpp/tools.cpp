// Adds the numbers of a message with a tool of its own, which callers see at work.
#include <regex>

#include "lines.h"

int main() {
  return lines::serve([](const lines::Turn& turn) {
    const std::string text = turn.text(), id = "add-" + turn.id();
    static const std::regex number("-?[0-9]{1,15}");
    long long sum = 0;
    std::string numbers;
    for (std::sregex_iterator found(text.begin(), text.end(), number), end; found != end; ++found) {
      sum += std::stoll(found->str());
      numbers += (numbers.empty() ? "" : ", ") + found->str();
    }
    turn.say("tool-call", {{"id", id}, {"name", "add"}}, {{"arguments", "{\"numbers\": [" + numbers + "]}"}});
    turn.say("tool-result", {{"id", id}}, {{"content", "{\"sum\": " + std::to_string(sum) + "}"}});
    turn.say("text", {{"delta", "The sum is " + std::to_string(sum) + "."}});
    turn.say("done");
  });
}
