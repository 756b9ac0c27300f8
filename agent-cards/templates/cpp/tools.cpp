// Adds the numbers of a message with a tool that callers see, and returns a file.
#include <regex>

#include "lines.h"

int main() {
  return lines::serve([](const lines::Turn& turn) {
    const std::string text = turn.text(), id = "add-" + turn.id();
    static const std::regex number("-?[0-9]{1,15}");
    long long sum = 0;
    std::string numbers, rows;
    for (std::sregex_iterator found(text.begin(), text.end(), number), end; found != end; ++found) {
      sum += std::stoll(found->str());
      numbers += (numbers.empty() ? "" : ", ") + found->str();
      rows += found->str() + "\n";
    }
    turn.say("tool-call", {{"id", id}, {"name", "add"}}, {{"arguments", "{\"numbers\": [" + numbers + "]}"}});
    turn.say("tool-result", {{"id", id}}, {{"content", "{\"sum\": " + std::to_string(sum) + "}"}});
    rows += std::to_string(sum) + "\n";
    turn.say("artifact", {}, {{"artifact", lines::file("sum.csv", "text/csv", rows)}});
    turn.say("text", {{"delta", "The sum is " + std::to_string(sum) + "."}});
    turn.say("done");
  });
}
