// Delegates each line of a message to a child task, all at the same time. Here the agent delegates to itself,
// and upper-cases a single line. `wait` ends the turn; the next one starts with the results.
#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "lines.h"

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

// Replies with the results in the order of the lines, whose numbers are the ids.
void show_results(const lines::Turn& turn) {
  std::map<int, std::string> texts;
  for (const lines::Value& result : turn.line()["resume"]["results"].GetArray()) {
    if (result.HasMember("error")) return turn.say("fail", {{"error", "A line could not be done."}});
    std::string& text = texts[std::atoi(result["id"].GetString())];
    if (!result["task"].HasMember("artifacts")) continue;  // the reply to an empty line is empty
    for (const lines::Value& artifact : result["task"]["artifacts"].GetArray())
      text += lines::text_of(artifact);
  }
  std::string all;
  for (const auto& [number, text] : texts) all += (number == 0 ? "" : "\n") + text;
  turn.say("text", {{"delta", all}});
  turn.say("done");
}

}  // namespace

int main() {
  return lines::serve([](const lines::Turn& turn) {
    if (turn.line().HasMember("resume")) return show_results(turn);
    const std::vector<std::string> all = lines_of(turn.text());
    if (all.size() < 2) {
      std::string text = turn.text();
      std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
      turn.say("text", {{"delta", text}});
      return turn.say("done");
    }
    const std::string self = turn.line()["agent"].GetString();
    for (std::size_t number = 0; number < all.size(); ++number)
      turn.say("delegate", {{"id", std::to_string(number)}, {"agent", self}, {"message", all[number]}});
    turn.say("wait");
  });
}
