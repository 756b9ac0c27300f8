// Finds values by pointer, computes places in a text, and compares values.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/document.h"

namespace baton::json {
namespace {

// Unescapes a step of a JSON pointer to the member's name.
std::string unescaped(std::string_view step) {
  std::string name;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size();
    name += !escape ? step[i] : step[++i] == '1' ? '/' : '~';
  }
  return name;
}

Value child_of(Value value, std::string_view step) {
  if (value.is_object()) return value[unescaped(step)];
  auto index = base::number_in<std::size_t>(step);
  if (!value.is_array() || !index) return {};
  for (const Value item : value) {
    if ((*index)-- == 0) return item;
  }
  return {};
}

// The members of an object in the order of their names; of repeated ones the last.
std::vector<Value> members_of(Value object) {
  std::vector<Value> members;
  members.reserve(object.size());
  for (const Value member : object) members.push_back(member);
  std::stable_sort(members.begin(), members.end(),
                   [](Value one, Value other) { return one.key() < other.key(); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool is_last = i + 1 == members.size() || members[i].key() != members[i + 1].key();
    if (is_last) members[kept++] = members[i];
  }
  members.resize(kept);
  return members;
}

bool are_same_objects(Value one, Value other) {
  const std::vector<Value> first = members_of(one), second = members_of(other);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](Value a, Value b) { return a.key() == b.key() && same_value(a, b); });
}

}  // namespace

bool same_value(Value one, Value other) {
  if (one.type() != other.type()) return false;
  if (one.is_string()) return one.string() == other.string();
  if (one.is_number()) return one.raw() == other.raw() || (one.real() && one.real() == other.real());
  if (one.is_object()) return are_same_objects(one, other);
  if (!one.is_array()) return one.raw() == other.raw();
  if (one.size() != other.size()) return false;
  auto second = other.begin();
  for (auto first = one.begin(); first != one.end(); ++first, ++second) {
    if (!same_value(*first, *second)) return false;
  }
  return true;
}

TextPlace place_at(std::string_view text, std::size_t offset) {
  TextPlace place;
  for (const char c : text.substr(0, offset)) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues) ++place.column;
    if (c == '\n') place = {place.line + 1, 1};
  }
  return place;
}

Value nearest_value(Value root, std::string_view pointer) {
  Value value = root;
  while (pointer.starts_with('/')) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const Value child = child_of(value, pointer.substr(1, end - 1));
    if (child.missing()) break;
    value = child;
    pointer.remove_prefix(end);
  }
  return value;
}

Value value_at(Value root, std::string_view pointer) {
  Value value = root;
  while (pointer.starts_with('/') && !value.missing()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    value = child_of(value, pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
  }
  return value;
}

}  // namespace baton::json
