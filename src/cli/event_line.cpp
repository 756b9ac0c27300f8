#include "cli/event_line.h"

#include <algorithm>
#include <string_view>

#include "cli/ops_table.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

constexpr std::size_t kEventColumns = 4, kTypeColumns = 11;

std::string joined(std::initializer_list<std::string> words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() || word.empty() ? "" : " ") + word;
  return all;
}

std::string part_text(json::Value part) {
  if (part["text"].is_string()) return part["text"].str();
  if (!part["data"].absent()) return std::string(part["data"].raw());
  const std::string name = part["filename"].str();
  return "[" + (name.empty() ? "file" : name) + "]";
}

// Joins the parts of a message or an artifact.
std::string words_of(json::Value said) {
  std::string words;
  for (const json::Value part : said["parts"]) words = joined({words, part_text(part)});
  return words;
}

std::string by_operator(json::Value event) {
  const std::string detail = event["detail"].str();
  return event["action"].str() + " by " + event["actor"].str() +
         (detail.empty() ? std::string() : " (" + detail + ")") + ": " + event["reason"].str();
}

// Returns an event's content in words.
std::string content_of(json::Value event) {
  const std::string type = event["type"].str();
  if (type == "status") return joined({event["state"].str(), words_of(event["message"])});
  if (type == "message")
    return (event["message"]["role"].string() == "ROLE_USER" ? "< " : "> ") + words_of(event["message"]);
  if (type == "artifact") return joined({event["artifact"]["name"].str(), words_of(event["artifact"])});
  if (type == "tool-call") return joined({event["name"].str(), text_in(event, "arguments")});
  if (type == "tool-result") return joined({text_in(event, "content"), event["error"].str()});
  if (type == "step" || type == "child")
    return joined({event["name"].str(), event["phase"].str(), event["error"].str()});
  if (type == "custom") return joined({event["name"].str(), text_in(event, "value")});
  if (type == "withdrawn") return "the turn starts again; its earlier output does not count";
  if (type == "intervention") return by_operator(event);
  for (const char* member : {"text", "content", "snapshot", "patch", "used", "state"}) {
    if (!event[member].absent()) return text_in(event, member);
  }
  return {};
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, text.size()), ' ');
}

}  // namespace

std::string event_line(json::Value event, std::size_t columns) {
  const std::string number = text_in(event, "number"), at = event["at"].str();
  const std::string time = at.size() > 11 ? at.substr(11, 12) : at;
  std::string line = std::string(kEventColumns - std::min(kEventColumns, number.size()), ' ') + number + "  ";
  line += time + "  " + padded(event["type"].str(), kTypeColumns) + "  " + content_of(event);
  line = shortened(printable_line(line), columns);
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

}  // namespace baton::cli
