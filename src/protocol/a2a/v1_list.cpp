#include "protocol/a2a/v1_list.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/text.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

// The 16 hex digits of FNV-1a. The hash need not be cryptographic: a token only tells where to continue in
// the caller's own list, so it is enough to detect a damaged or foreign one.
std::string check_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string hex(16, '0');
  for (std::size_t i = 0; i < hex.size(); ++i) hex[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
  return hex;
}

}  // namespace

// Encodes the time of the status and the task id, with a checksum, in URL-safe base64.
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
  const auto ms = base::number_in<std::int64_t>(place.substr(0, colon));
  if (!ms) return std::nullopt;
  const task::ListPosition position{base::from_ms(*ms), {std::string(place.substr(colon + 1))}};
  // Base64 can encode the same bytes in several ways. Only the encoding that Baton writes is accepted.
  if (page_token(position) != token) return std::nullopt;
  return position;
}

}  // namespace

Result<std::optional<task::ListPosition>> read_page_token(std::string_view token) {
  if (token.empty()) return std::optional<task::ListPosition>();
  const auto position = position_in(token);
  if (!position) return wrong("pageToken: is invalid; start again without it");
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

// The last name is that of a draft. The REST client of a2a-go 2 sends it.
void read_since(Fields& in, std::optional<base::Timestamp>& to) {
  const Fields::Names names{"statusTimestampAfter", "status_timestamp_after", "lastUpdatedAfter"};
  std::string text;
  in.string(names, text);
  to = base::parse_rfc3339(text);
  if (!text.empty() && !to) in.wrong(names, "must be a time such as 2026-01-31T10:00:00Z");
}

void read_page_size(Fields& in, int& to) {
  const Fields::Names names{"pageSize", "page_size"};
  const auto size = in.value(names).is_string() ? base::number_in<std::int64_t>(in.value(names).string())
                                                : in.value(names).json().integer();
  if (in.value(names).absent()) return;
  if (!size || *size < 1 || *size > kPageMax) return in.wrong(names, "must be a whole number from 1 to 100");
  to = static_cast<int>(*size);
}

}  // namespace

Result<ListRequest> read_list_request(const Params& params) {
  if (!params.json().absent() && !params.json().is_object()) return wrong("params: must be an object");
  ListRequest read;
  std::optional<bool> artifacts;
  std::string token;
  Fields in(params, {}, Source::query);
  in.id({"contextId", "context_id"}, read.filter.context.value);
  in.take(read_state_filter(params["status"]), read.filter.state);
  read_page_size(in, read.filter.limit);
  in.string({"pageToken", "page_token"}, token);
  in.take(read_page_token(token), read.filter.after);
  read.depth.history.reset();
  in.history({"historyLength", "history_length"}, read.depth.history);
  read_since(in, read.filter.status_since);
  in.truth({"includeArtifacts", "include_artifacts"}, artifacts);
  read.depth.artifacts = artifacts.value_or(false);
  return in.result(std::move(read));
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
