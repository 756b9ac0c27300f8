#include "json/error_words.h"

#include <array>
#include <cstddef>

namespace baton::json {
namespace {

constexpr std::size_t kListMax = 1'000;  // bytes of a list's words, after which no more elements are read
constexpr int kErrorDepthMax = 8;

std::string words_in(Value error, int depth);

std::string words_of_list(Value list, int depth) {
  std::string words;
  for (const Value one : list) {
    const std::string more = words_in(one, depth);
    if (more.empty()) continue;
    words += (words.empty() ? "" : "; ") + more;
    if (words.size() >= kListMax) break;
  }
  return words;
}

// Returns the path in FastAPI's `loc`: names and indices.
std::string place_in(Value loc) {
  std::string path;
  for (const Value step : loc) {
    if (path.size() >= kListMax) break;
    path += (path.empty() ? "" : ".") + std::string(step.is_string() ? step.string() : step.raw());
  }
  return path;
}

std::string words_of_object(Value error, int depth) {
  constexpr std::array kMembers{"message", "Message",          "msg", "error", "detail", "errors", "reason",
                                "title",   "error_description"};
  std::string words;
  for (const char* member : kMembers) {
    words = words_in(error[member], depth);
    if (!words.empty()) break;
  }
  const std::string_view described = error["error_description"].string();
  if (error["error"].is_string() && !described.empty() && words == error["error"].string())
    words.append(": ").append(described);
  // A relay between servers (OpenRouter) adds the words of the one behind it.
  if (const std::string_view behind = error["metadata"]["raw"].string(); !words.empty() && !behind.empty())
    words.append(": ").append(behind);
  const Value loc = error["loc"];
  if (words.empty() || !loc.is_array()) return words;
  return place_in(loc) + ": " + words;
}

std::string words_in(Value error, int depth) {
  if (error.is_string()) return error.str();
  if (depth >= kErrorDepthMax) return {};
  if (error.is_array()) return words_of_list(error, depth + 1);
  return error.is_object() ? words_of_object(error, depth + 1) : std::string();
}

}  // namespace

std::string error_words(Value error) {
  return words_in(error, 0);
}

}  // namespace baton::json
