#include "protocol/mcp/echoes.h"

#include <array>
#include <vector>

#include "base/base64.h"
#include "base/sha256.h"
#include "base/text.h"

namespace baton::protocol::mcp {
namespace {

constexpr std::size_t kEchoMax = 8'192;

// The fields between `:`; empty if there are not exactly `count` of them.
std::vector<std::string_view> fields_of(std::string_view text, std::size_t count) {
  std::vector<std::string_view> fields;
  if (text.size() > kEchoMax) return fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (fields.size() != count) fields.clear();
  return fields;
}

std::optional<std::string> decoded_field(std::string_view field) {
  auto text = base::percent_decoded(field);
  return text && base::is_utf8(*text) ? text : std::nullopt;
}

std::optional<std::string> request_id_in(std::string_view field) {
  auto text = base::percent_decoded(field);
  const auto document = text ? json::Document::view_of(*text) : json::Document::view_of({});
  // White space around the value would become a line of its own.
  const bool is_id = is_request_id(document.root()) && document.root().raw().size() == text->size();
  return is_id ? std::move(text) : std::nullopt;
}

// A count that has room for more.
std::optional<std::int64_t> number_in(std::string_view field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto number = base::number_in<std::int64_t>(field);
  return number && *number >= 0 && *number <= kMost ? number : std::nullopt;
}

}  // namespace

std::string make_request_state(const RequestState& state) {
  return base::percent_encoded(state.task.value) + ":" + base::percent_encoded(state.ask) + ":" +
         base::uuid_of({"mcp request state", state.task.value, state.ask});
}

std::optional<RequestState> read_request_state(std::string_view text) {
  const auto fields = fields_of(text, 3);
  if (fields.empty()) return std::nullopt;
  auto task = decoded_field(fields[0]), ask = decoded_field(fields[1]);
  if (!task || task->empty() || !ask) return std::nullopt;
  RequestState state{{std::move(*task)}, std::move(*ask)};
  return make_request_state(state) == text ? std::optional(std::move(state)) : std::nullopt;
}

std::string make_event_id(const StreamPlace& place) {
  return base::percent_encoded(place.task.value) + ":" + std::to_string(place.after.value) + ":" +
         std::to_string(place.number) + ":" + base::percent_encoded(place.request) + ":" +
         base::percent_encoded(place.progress_token);
}

std::optional<StreamPlace> read_event_id(std::string_view text) {
  const auto fields = fields_of(text, 5);
  if (fields.empty()) return std::nullopt;
  auto task = decoded_field(fields[0]);
  const auto after = number_in(fields[1]), number = number_in(fields[2]);
  auto request = request_id_in(fields[3]);
  auto token = fields[4].empty() ? std::optional<std::string>("") : request_id_in(fields[4]);
  if (!task || task->empty() || !after || !number || !request || !token) return std::nullopt;
  return StreamPlace{{std::move(*task)}, {*after}, *number, std::move(*request), std::move(*token)};
}

std::string make_session_id(const Session& session, std::string_view caller, std::string_view nonce) {
  const std::string abilities =
      std::string(session.client.forms ? "f" : "") + (session.client.urls ? "u" : "");
  const std::string said = session.version + ":" + abilities + ":" + std::string(nonce);
  return said + ":" + base::uuid_of({"mcp session", said, caller});
}

std::optional<Session> read_session_id(std::string_view id, std::string_view caller) {
  const auto fields = fields_of(id, 4);
  if (fields.empty()) return std::nullopt;
  Session session;
  session.version = fields[0];
  session.client.forms = fields[1].find('f') != std::string_view::npos;
  session.client.urls = fields[1].find('u') != std::string_view::npos;
  session.client.links = has_links(session.version);
  return make_session_id(session, caller, fields[2]) == id ? std::optional(std::move(session)) : std::nullopt;
}

std::string make_asking_id(const AskedTask& asked) {
  return base::percent_encoded(asked.task.value) + ":" + base::percent_encoded(asked.ask);
}

std::optional<AskedTask> read_asking_id(std::string_view id) {
  const auto fields = fields_of(id, 2);
  if (fields.empty()) return std::nullopt;
  auto task = decoded_field(fields[0]), ask = decoded_field(fields[1]);
  if (!task || task->empty() || !ask) return std::nullopt;
  return AskedTask{{std::move(*task)}, std::move(*ask)};
}

}  // namespace baton::protocol::mcp
