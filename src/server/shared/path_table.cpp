#include "server/shared/path_table.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace baton::server {
namespace {

using task::ProtocolVersion;

constexpr std::string_view kOptionalSlash = "[/]", kRest = "...";
constexpr std::size_t kParametersMax = 3;

// Where A2A's patterns are looked for.
enum class Base { as_written, below_v1, behind_tenant };

// The parameters of a path that has the shape of a pattern, with their names as in the pattern, as received.
struct Shape {
  std::array<std::pair<std::string_view, std::string_view>, kParametersMax> parameters;
  std::size_t count = 0;
};

// Whether the path can have the pattern's shape. The first letter decides for most rows, and every request
// looks through several tables.
bool begins_alike(std::string_view pattern, std::string_view path) {
  if (pattern.size() < 2 || pattern[0] != '/' || pattern[1] == '{' || pattern[1] == kOptionalSlash[0])
    return true;
  return path.size() >= 2 && path[1] == pattern[1];
}

// Must not allocate: most rows do not fit.
bool has_shape(std::string_view pattern, std::string_view path, Shape& shape) {
  while (!pattern.empty()) {
    if (pattern == kOptionalSlash) return path.empty() || path == "/";
    if (pattern.front() != '{') {
      if (path.empty() || path.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      path.remove_prefix(1);
      continue;
    }
    const std::size_t close = pattern.find('}');
    const std::string_view name = pattern.substr(1, close - 1);
    pattern.remove_prefix(close + 1);
    std::string_view given = name.ends_with(kRest) ? path : path.substr(0, path.find('/'));
    const std::string_view ending = pattern.substr(0, pattern.find('/'));
    if (!given.ends_with(ending) || given.size() == ending.size()) return false;
    given.remove_suffix(ending.size());
    shape.parameters[shape.count++] = {name, given};
    path.remove_prefix(given.size());
  }
  return path.empty();
}

// Empty if the text is not percent-encoded UTF-8, or encodes an empty text.
std::optional<std::string> decoded(std::string_view text) {
  auto out = base::percent_decoded(text);
  if (out && (out->empty() || !base::is_utf8(*out))) out.reset();
  return out;
}

bool is_as_received(Place place) {
  return place == Place::operator_api || place == Place::agent_ids;
}

// Reads the parameters of the row's pattern from the path. Returns false if the path does not fit.
bool fits(const PathRow& row, std::string_view path, Shape& shape, PathMatch& match) {
  shape.count = 0;
  if (!has_shape(row.pattern, path, shape)) return false;
  match.parameters.clear();
  for (std::size_t i = 0; i < shape.count; ++i) {
    auto [name, text] = shape.parameters[i];
    const bool is_number = name.starts_with('#');
    const bool is_rest = name.ends_with(kRest);  // looked up in a table of its own
    if (is_number) name.remove_prefix(1);
    if (is_rest) name.remove_suffix(kRest.size());
    if (is_number && !base::number_in<std::size_t>(text)) return false;
    auto value = is_number || !is_as_received(row.place) ? std::optional(std::string(text)) : decoded(text);
    if (!value || (!is_rest && !base::is_utf8(*value))) return false;
    match.parameters.emplace_back(name, std::move(*value));
  }
  return true;
}

bool stands_at(const PathRow& row, Base base) {
  const auto* rest = std::get_if<RestOperation>(&row.answered_by);
  if (rest == nullptr) return base == Base::as_written;
  return rest->versions.contains(base == Base::below_v1 ? ProtocolVersion::v0_3 : ProtocolVersion::v1_0);
}

bool lists(std::string_view methods, std::string_view method) {
  constexpr std::string_view kComma = ", ";
  while (!methods.empty()) {
    const std::size_t end = std::min(methods.find(kComma), methods.size());
    if (methods.substr(0, end) == method) return true;
    methods.remove_prefix(std::min(end + kComma.size(), methods.size()));
  }
  return false;
}

bool allows(const PathRow& row, std::string_view method) {
  if (row.methods.empty() || lists(row.methods, method)) return true;
  return method == "HEAD" && row.head != Head::refused && lists(row.methods, "GET");
}

// The methods of every row with this pattern.
std::string allow_of(std::span<const PathRow> rows, const PathRow& like, Base base) {
  std::string allow;
  for (const PathRow& row : rows) {
    if (row.pattern != like.pattern || !stands_at(row, base)) continue;
    allow.append(allow.empty() ? "" : ", ").append(row.methods);
    if (row.head == Head::served_and_allowed) allow += ", HEAD";
  }
  return allow;
}

PathMatch find_as_it_is(std::span<const PathRow> rows, std::string_view method, std::string_view path,
                        Base base) {
  PathMatch first, match;
  Shape shape;  // for all rows: most end at once, and to clear it takes longer
  for (const PathRow& row : rows) {
    if (!begins_alike(row.pattern, path)) continue;
    if (!stands_at(row, base) || !fits(row, path, shape, match)) continue;
    match.row = &row;
    match.allowed = allows(row, method);
    if (match.allowed) return match;
    if (first.row == nullptr) first = match;
  }
  if (first.row != nullptr) first.allow = allow_of(rows, *first.row, base);
  return first;
}

// Empty if the last encoded character is no colon.
std::optional<std::string> with_plain_colon(std::string_view path) {
  const std::size_t percent = path.rfind('%');
  if (percent == std::string_view::npos || !base::begins_with(path.substr(percent), "%3a"))
    return std::nullopt;
  return std::string(path.substr(0, percent)) + ":" + std::string(path.substr(percent + 3));
}

PathMatch find_at(std::span<const PathRow> rows, std::string_view method, std::string_view path, Base base) {
  PathMatch match = find_as_it_is(rows, method, path, base);
  if (match.allowed || rows.empty() || rows.front().place != Place::agent_ids) return match;
  if (const auto plain = with_plain_colon(path)) {
    if (PathMatch verb = find_as_it_is(rows, method, *plain, base); verb.allowed) return verb;
  }
  return match;
}

}  // namespace

std::string_view PathMatch::operator[](std::string_view name) const {
  for (const auto& [parameter, text] : parameters) {
    if (parameter == name) return text;
  }
  return {};
}

PathMatch find_path(std::span<const PathRow> rows, std::string_view method, std::string_view path) {
  PathMatch match = find_at(rows, method, path, Base::as_written);
  if (match.row != nullptr || rows.empty() || rows.front().place != Place::agent_ids) return match;
  const std::size_t end = path.find('/', 1);
  if (!path.starts_with('/') || end == std::string_view::npos) return match;
  const std::string_view segment = path.substr(1, end - 1), rest = path.substr(end);
  if (segment == "v1") {
    match = find_at(rows, method, rest, Base::below_v1);
    match.below_v1 = true;
    return match;
  }
  match = find_at(rows, method, rest, Base::behind_tenant);
  if (match.row == nullptr) return match;
  auto tenant = decoded(segment);
  if (!tenant) return {};
  match.tenant = std::move(*tenant);
  return match;
}

std::optional<Scope> scope_of(const PathMatch& found, std::string_view method) {
  const auto* const chat = found.answered_by<ChatProtocol>();
  const auto* const openai = found.answered_by<OpenAiRoute>();
  std::optional<Scope> scope;
  if (chat != nullptr) scope = chat->scope;
  if (openai != nullptr) scope = openai->scope;
  if (found.is(Stage::conversations) || found.is(Stage::conversation_events) || found.is(Stage::plan))
    scope = Scope::read;
  if (scope && method == "DELETE") return Scope::cancel;
  if (scope && method == "PATCH") return Scope::send;
  return scope;
}

}  // namespace baton::server
