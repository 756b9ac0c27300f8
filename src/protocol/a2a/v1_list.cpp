#include "protocol/a2a/v1_list.h"

#include <charconv>

#include "base/base64.h"
#include "base/clock.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

// The 16 hex digits of FNV-1a. It need not be secret: a token only says where to continue in the caller's own
// list, so detecting a damaged or foreign one is enough.
std::string check_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string hex(16, '0');
  for (std::size_t i = 0; i < hex.size(); ++i) hex[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
  return hex;
}

}  // namespace

// (time of the status, task id) with a check, in base64 that a URL can hold.
std::string page_token(const task::ListPosition& position) {
  const std::string place = std::to_string(base::to_ms(position.status_at)) + ":" + position.id.value;
  std::string token = base::encode_base64(check_of(place) + place);
  while (!token.empty() && token.back() == '=') token.pop_back();
  for (char& c : token) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return token;
}

namespace {

std::optional<task::ListPosition> position_in(std::string_view token) {
  const auto bytes = base::decode_base64(token);
  const std::size_t head = check_of("").size();
  if (!bytes || bytes->size() <= head) return std::nullopt;
  const std::string_view place = std::string_view(*bytes).substr(head);
  const std::size_t colon = place.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + colon, ms);
  if (error != std::errc() || end != place.data() + colon) return std::nullopt;
  const task::ListPosition position{base::from_ms(ms), {std::string(place.substr(colon + 1))}};
  // Base64 can spell the same bytes in several ways. Only the spelling that was handed out is accepted.
  if (page_token(position) != token) return std::nullopt;
  return position;
}

}  // namespace

Result<std::optional<task::ListPosition>> read_page_token(const Param& value) {
  const auto token = read_string(value, "pageToken");
  if (!token) return fail(token.error());
  if (token->empty()) return std::optional<task::ListPosition>();
  const auto position = position_in(*token);
  if (!position) return wrong("pageToken: is not one that this server gave");
  return position;
}

namespace {

Result<std::optional<task::State>> read_state_filter(const Param& value) {
  using States = std::optional<task::State>;
  if (value.absent() || (value.is_string() && value.string().empty())) return States();
  std::optional<std::int64_t> number = value.json().integer();
  if (const std::string_view text = value.string(); text.size() == 1 && text[0] >= '0' && text[0] <= '9') {
    number = text[0] - '0';
  }
  const auto state = number ? v1::state_numbered(*number) : v1::state_named(value.string());
  if (state) return state;
  if (number == 0 || value.string() == "TASK_STATE_UNSPECIFIED") return States();
  return wrong("status: must be a task state, such as TASK_STATE_COMPLETED");
}

Result<std::optional<base::Timestamp>> read_since(const Param& value) {
  const auto text = read_string(value, "statusTimestampAfter");
  if (!text) return fail(text.error());
  if (text->empty()) return std::optional<base::Timestamp>();
  const auto since = base::parse_rfc3339(*text);
  if (!since) return wrong("statusTimestampAfter: must be a time such as 2026-01-31T10:00:00Z");
  return since;
}

Result<int> read_page_size(const Param& value) {
  const auto size = read_count(value, "pageSize", Source::query);
  if (size && !*size) return task::ListFilter{}.limit;
  if (!size || **size < 1 || **size > kPageMax)
    return wrong("pageSize: must be a whole number from 1 to 100");
  return static_cast<int>(**size);
}

}  // namespace

Result<ListRequest> read_list_request(const Params& params) {
  if (!params.json().absent() && !params.json().is_object()) return wrong("params: must be an object");
  ListRequest read;
  std::optional<bool> artifacts;
  std::optional<base::Error> bad;
  const auto member = [&](std::string_view camel, std::string_view snake) {
    return params.first_of({camel, snake});
  };
  if ((bad = take(read_id(member("contextId", "context_id"), "contextId"), read.filter.context.value)) ||
      (bad = take(read_state_filter(params["status"]), read.filter.state)) ||
      (bad = take(read_page_size(member("pageSize", "page_size")), read.filter.limit)) ||
      (bad = take(read_page_token(member("pageToken", "page_token")), read.filter.after)) ||
      (bad = take(read_history(member("historyLength", "history_length"), "historyLength", std::nullopt,
                               Source::query),
                  read.depth.history)) ||
      (bad = take(read_since(member("statusTimestampAfter", "status_timestamp_after")),
                  read.filter.status_since)) ||
      (bad = take(
           read_truth(member("includeArtifacts", "include_artifacts"), "includeArtifacts", Source::query),
           artifacts))) {
    return fail(*bad);
  }
  read.depth.artifacts = artifacts.value_or(false);
  return read;
}

// All four members are on every page, even with default values: the specification requires it for this
// message.
void write_list_answer(json::Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                       const std::optional<task::ListPosition>& next, std::int64_t total) {
  using v1::Artifacts;
  out.object([&] {
    out.key("tasks").array([&] {
      for (const task::Task& task : tasks) {
        v1::write_task(out, task, list.depth.artifacts ? Artifacts::always : Artifacts::never);
      }
    });
    out.member("nextPageToken", next ? page_token(*next) : "");
    out.member("pageSize", list.filter.limit).member("totalSize", total);
  });
}

}  // namespace baton::protocol::a2a
