#include "json/json_patch.h"

#include <algorithm>
#include <array>

namespace baton::json {
namespace {

struct Operation {
  std::string_view name;
  bool needs_value = false;
  bool needs_from = false;
};

constexpr std::array kOperations{
    Operation{"add", true, false},  Operation{"remove", false, false}, Operation{"replace", true, false},
    Operation{"move", false, true}, Operation{"copy", false, true},    Operation{"test", true, false},
};

// RFC 6901: a pointer is empty or has "/" before each step; "~" is allowed only before 0 or 1.
bool is_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
  }
  return true;
}

std::string operation_problem(Value operation) {
  if (!operation.is_object()) return "must be an object";
  const auto named = std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& one) {
    return operation["op"].is_string() && one.name == operation["op"].string();
  });
  if (named == kOperations.end()) return "\"op\" must be add, remove, replace, move, copy or test";
  for (const std::string_view name : {"path", "from"}) {
    if (name == "from" && !named->needs_from) continue;
    const Value pointer = operation[name];
    if (!pointer.is_string() || !is_pointer(pointer.string())) {
      return "\"" + std::string(name) + "\" must be a JSON Pointer: empty, or beginning with /";
    }
  }
  if (named->needs_value && operation["value"].missing()) return "\"value\" is missing";
  return {};
}

}  // namespace

std::string patch_problem(Value patch) {
  if (!patch.is_array()) return "must be a list of JSON Patch operations";
  std::size_t index = 0;
  for (const Value operation : patch) {
    if (std::string problem = operation_problem(operation); !problem.empty()) {
      return "contains invalid operation " + std::to_string(index) + ": " + problem;
    }
    ++index;
  }
  return {};
}

bool is_patch(const task::Json& json) {
  const auto document = Document::parse_view(json.text);
  return document && patch_problem(document->root()).empty();
}

}  // namespace baton::json
