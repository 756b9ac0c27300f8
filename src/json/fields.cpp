#include "json/fields.h"

#include <algorithm>

#include "base/text.h"

namespace baton::json {
namespace {

constexpr std::int64_t kHistoryMax = 1'000'000;

}  // namespace

Value first_of(Value object, std::initializer_list<std::string_view> names) {
  Value value;
  for (const std::string_view name : names) {
    value = object[name];
    if (!value.absent()) break;
  }
  return value;
}

void Fields::wrong(Names names, std::string_view what) {
  if (good())
    error_ = base::Error{base::ErrorCode::invalid_argument, path_of(names).append(": ").append(what), {}};
}

void Fields::string(Names names, std::string& to) {
  const Param given = value(names);
  if (given.absent()) return;
  if (!given.is_string()) return wrong(names, "must be a string");
  to = given.string();
}

void Fields::needed_string(Names names, std::string& to) {
  string(names, to);
  if (value(names).absent()) wrong(names, "must be a string");
}

void Fields::id(Names names, std::string& to, std::size_t bytes_max) {
  string(names, to);
  if (to.size() > bytes_max) wrong(names, "must not be longer than " + std::to_string(bytes_max) + " bytes");
}

void Fields::needed_id(Names names, std::string& to, std::size_t bytes_max) {
  id(names, to, bytes_max);
  if (to.empty()) wrong(names, "must not be empty");
}

void Fields::task_id(std::string_view name, task::TaskId& to) {
  const Value id = params_.json()[name];
  if (params_.json().repeats(name)) return wrong({name}, "is given more than once");
  if (const auto number = id.integer()) {
    to.value = std::to_string(*number);
  } else if (!id.is_string()) {
    wrong({name}, "must be a string");
  } else {
    needed_id({name}, to.value);
  }
}

void Fields::strings(Names names, std::vector<std::string>& to) {
  const Value list = value(names).json();
  if (list.absent()) return;
  if (!list.is_array()) return wrong(names, "must be a list of strings");
  for (const Value item : list) {
    if (!item.is_string()) return wrong(names, "must be a list of strings");
    to.push_back(item.str());
  }
}

void Fields::task_ids(Names names, std::vector<task::TaskId>& to) {
  std::vector<std::string> ids;
  strings(names, ids);
  for (std::string& id : ids) to.push_back({std::move(id)});
}

void Fields::object(Names names, task::Json& to) {
  const Param given = value(names);
  if (given.absent()) return;
  if (!given.json().is_object()) return wrong(names, "must be an object");
  to = given.json().json();
}

void Fields::truth(Names names, std::optional<bool>& to) {
  const Param given = value(names);
  if (given.absent()) return;
  const std::string_view text = source_ == Source::query ? given.string() : "";
  if (given.json().is_bool()) {
    to = given.json().boolean();
  } else if (text == "true" || text == "false") {
    to = text == "true";
  } else {
    wrong(names, "must be true or false");
  }
}

void Fields::count(Names names, std::optional<std::int64_t>& to) {
  const Param given = value(names);
  if (given.absent()) return;
  auto number = given.json().integer();
  if (given.is_string() && source_ == Source::query) number = base::number_in<std::int64_t>(given.string());
  if (!number || *number < 0) return wrong(names, "must be a whole number of at least 0");
  to = number;
}

void Fields::history(Names names, std::optional<int>& to) {
  std::optional<std::int64_t> length;
  count(names, length);
  if (length) to = static_cast<int>(std::min(*length, kHistoryMax));
}

}  // namespace baton::json
