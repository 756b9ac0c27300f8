#include "agents/call_ids.h"

#include <algorithm>

namespace baton::agents {
namespace {

// Separates the agent's own id from a number.
constexpr char kMark = '~';

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string CallIds::begin(const std::string& own) {
  std::string id = own;
  for (int next = 2; !used_->try_add(id); ++next) id = own + kMark + std::to_string(next);
  given_[own] = id;
  return id;
}

std::string CallIds::given(const std::string& own) const {
  const auto found = given_.find(own);
  return found == given_.end() ? own : found->second;
}

std::string CallIds::own(const std::string& id) const {
  const std::size_t mark = id.rfind(kMark);
  if (mark == std::string::npos || mark + 1 == id.size()) return id;
  const bool numbered = std::all_of(id.begin() + static_cast<std::ptrdiff_t>(mark) + 1, id.end(), is_digit);
  // If the agent makes such ids itself, the part before the mark is not a call's id.
  std::string before = id.substr(0, mark);
  return numbered && used_->has(id) && used_->has(before) ? before : id;
}

}  // namespace baton::agents
