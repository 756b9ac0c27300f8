#include "agents/tool_names.h"

#include <algorithm>
#include <functional>

namespace baton::agents {
namespace {

constexpr std::size_t kToolNameMax = 64;

bool may_be_in_tool_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

std::string tool_name(std::string_view wanted) {
  std::string name(wanted.substr(0, kToolNameMax));
  std::ranges::replace_if(name, std::not_fn(may_be_in_tool_name), '_');
  return name;
}

std::string ToolNames::add(std::string_view wanted) {
  const std::string safe = tool_name(wanted);
  std::string name = safe;
  while (!taken_.insert(name).second) {
    const std::string number = "_" + std::to_string(++repeats_[safe] + 1);
    name = safe.substr(0, kToolNameMax - number.size()) + number;
  }
  return name;
}

}  // namespace baton::agents
