#include "protocol/openai/names.h"

#include "base/text.h"

namespace baton::protocol::openai {

std::string name_of(std::string_view kind, const task::TaskId& task, std::string_view rest) {
  std::string name(kind);
  name += '_';
  // The task ends at the next underscore, so its own ones are encoded.
  for (const char c : base::percent_encoded(task.value)) c == '_' ? name.append("%5F") : name.append(1, c);
  if (!rest.empty()) name += "_" + base::percent_encoded(rest);
  return name;
}

std::optional<Name> read_name(std::string_view text) {
  const std::size_t first = text.find('_');
  if (first == std::string_view::npos) return std::nullopt;
  std::string_view task = text.substr(first + 1), rest;
  if (const std::size_t second = task.find('_'); second != std::string_view::npos) {
    rest = task.substr(second + 1);
    task = task.substr(0, second);
  }
  auto id = base::percent_decoded(task), place = base::percent_decoded(rest);
  if (!id || id->empty() || !place || !base::is_utf8(*id) || !base::is_utf8(*place)) return std::nullopt;
  return Name{std::string(text.substr(0, first)), {std::move(*id)}, std::move(*place)};
}

std::string response_id(const task::TaskId& task, task::EventNumber before) {
  return name_of(kResponse, task, before ? std::to_string(before.value) : std::string());
}

std::optional<ResponseName> read_response_id(std::string_view text) {
  auto name = read_name(text);
  if (!name || name->kind != kResponse) return std::nullopt;
  const auto before = name->rest.empty() ? 0 : base::number_in<std::int64_t>(name->rest).value_or(-1);
  if (before < 0) return std::nullopt;
  return ResponseName{std::move(name->task), {before}};
}

}  // namespace baton::protocol::openai
