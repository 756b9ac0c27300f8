#include "protocol/a2a/members.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

constexpr std::int64_t kHistoryMax = 1'000'000;
constexpr std::size_t kUrlMax = 2048;
constexpr std::size_t kHeaderTextMax = 8192;
constexpr std::size_t kSchemesMax = 16;
constexpr std::size_t kSchemeMax = 64;

// Whether a webhook could be sent to this URL at all. Whether it may be is decided when it is sent.
bool is_http_url(std::string_view url) {
  const std::size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return false;
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  const bool printable =
      std::none_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  return printable && !host.empty() && host.find('@') == std::string_view::npos;
}

// Whether a text can become part of an HTTP header.
Result<void> check_header_text(std::string_view text, const std::string& name) {
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return wrong(name + ": must not have control characters");
  }
  if (text.size() > kHeaderTextMax) return wrong(name + ": must not be longer than 8192 bytes");
  return {};
}

// The name of an authentication scheme (RFC 9110, 11.1).
bool is_scheme(std::string_view scheme) {
  return base::is_token(scheme) && scheme.size() <= kSchemeMax;
}

Result<void> read_authentication(json::Value authentication, const std::string& name,
                                 task::PushConfig& config) {
  if (authentication.absent()) return {};
  if (!authentication.is_object()) return wrong(name + ": must be an object");
  const json::Value schemes = first_of(authentication, {"schemes", "scheme"});
  if (schemes.is_string()) {
    if (!schemes.string().empty()) config.schemes.push_back(schemes.str());
  } else if (auto bad = take(read_strings(schemes, name + ".schemes"), config.schemes)) {
    return fail(*bad);
  }
  if (auto bad =
          take(read_string(authentication["credentials"], name + ".credentials"), config.credentials)) {
    return fail(*bad);
  }
  return {};
}

std::string facts_of(const task::ToolCall& call) {
  std::string facts;
  json::Writer writer(facts);
  writer.object([&] {
    writer.key("toolCall").object([&] {
      writer.member("id", call.id).member("name", call.name);
      writer.key("arguments").raw(call.arguments.empty() ? "{}" : call.arguments.text);
    });
  });
  return facts;
}

std::string facts_of(const task::ToolResult& result) {
  std::string facts;
  json::Writer writer(facts);
  writer.object([&] {
    writer.key("toolResult").object([&] {
      writer.member("id", result.id).optional("content", result.content).optional("error", result.error);
    });
  });
  return facts;
}

}  // namespace

json::Value first_of(json::Value object, std::initializer_list<std::string_view> names) {
  json::Value value;
  for (const std::string_view name : names) {
    value = object[name];
    if (!value.absent()) break;
  }
  return value;
}

Result<std::string> read_string(const Param& value, const std::string& name) {
  if (value.absent()) return std::string();
  if (!value.is_string()) return wrong(name + ": must be a string");
  return std::string(value.string());
}

Result<std::vector<std::string>> read_strings(json::Value value, const std::string& name) {
  std::vector<std::string> strings;
  if (value.absent()) return strings;
  if (!value.is_array()) return wrong(name + ": must be a list of strings");
  for (const json::Value item : value) {
    if (!item.is_string()) return wrong(name + ": must be a list of strings");
    strings.push_back(item.str());
  }
  return strings;
}

Result<std::vector<task::TaskId>> read_task_ids(json::Value value, const std::string& name) {
  auto strings = read_strings(value, name);
  if (!strings) return fail(strings.error());
  std::vector<task::TaskId> ids;
  for (std::string& id : *strings) ids.push_back({std::move(id)});
  return ids;
}

Result<task::Json> read_object(const Param& value, const std::string& name) {
  if (value.absent()) return task::Json{};
  if (!value.json().is_object()) return wrong(name + ": must be an object");
  return value.json().json();
}

Result<std::optional<bool>> read_truth(const Param& value, const std::string& name, Source source) {
  if (value.absent()) return std::optional<bool>();
  if (value.json().is_bool()) return std::optional(value.json().boolean());
  const std::string_view text = source == Source::query ? value.string() : "";
  if (text == "true") return std::optional(true);
  if (text == "false") return std::optional(false);
  return wrong(name + ": must be true or false");
}

Result<std::optional<std::int64_t>> read_count(const Param& value, const std::string& name, Source source) {
  if (value.absent()) return std::optional<std::int64_t>();
  std::optional<std::int64_t> number = value.json().integer();
  if (value.is_string() && source == Source::query) {
    const std::string_view text = value.string();
    std::int64_t parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error == std::errc() && end == text.data() + text.size()) number = parsed;
  }
  if (!number || *number < 0) return wrong(name + ": must be a whole number from 0");
  return number;
}

Result<std::optional<int>> read_history(const Param& value, const std::string& name,
                                        std::optional<int> absent, Source source) {
  const auto length = read_count(value, name, source);
  if (!length) return fail(length.error());
  if (!*length) return absent;
  return std::optional(static_cast<int>(std::min(**length, kHistoryMax)));
}

Result<std::string> read_id(const Param& value, const std::string& name) {
  auto id = read_string(value, name);
  if (id && id->size() > kIdMax) return wrong(name + ": must not be longer than 256 bytes");
  return id;
}

Result<task::TaskId> read_task_id(json::Value owner, std::string_view member, const std::string& name) {
  const json::Value id = owner[member];
  if (owner.repeats(member)) return wrong(name + ": given more than once");
  if (id.is_number() && id.integer()) return task::TaskId{std::to_string(*id.integer())};
  if (!id.is_string()) return wrong(name + ": must be a string");
  if (id.string().empty()) return wrong(name + ": must not be empty");
  task::TaskId read;
  if (auto bad = take(read_id(id, name), read.value)) return fail(*bad);
  return read;
}

Result<task::PushConfig> read_push_config(json::Value config, const std::string& name,
                                          task::ProtocolVersion version) {
  if (!config.is_object()) return wrong(name + ": must be an object");
  task::PushConfig read;
  read.version = version;
  std::optional<base::Error> bad;
  if ((bad = take(read_id(config["id"], name + ".id"), read.id.value)) ||
      (bad = take(read_string(config["url"], name + ".url"), read.url)) ||
      (bad = take(read_string(config["token"], name + ".token"), read.token))) {
    return fail(*bad);
  }
  if (auto done = read_authentication(config["authentication"], name + ".authentication", read); !done) {
    return fail(done.error());
  }
  if (auto done = check_push_config(read, name); !done) return fail(done.error());
  return read;
}

Result<void> check_push_config(const task::PushConfig& config, const std::string& name) {
  if (auto done = check_header_text(config.token, name + ".token"); !done) return done;
  if (config.url.size() > kUrlMax) return wrong(name + ".url: must not be longer than 2048 bytes");
  if (!is_http_url(config.url)) return wrong(name + ".url: must be an http or https URL");
  const bool good = std::all_of(config.schemes.begin(), config.schemes.end(), is_scheme);
  if (!good || config.schemes.size() > kSchemesMax) {
    return wrong(name + ".authentication.schemes: must be at most 16 names of authentication schemes");
  }
  return check_header_text(config.credentials, name + ".authentication.credentials");
}

Result<std::optional<task::EventNumber>> read_last_event(const Param& metadata) {
  if (!metadata.absent() && !metadata.json().is_object()) return wrong("params.metadata: must be an object");
  const auto number = read_count(metadata.json()["lastEventId"], "params.metadata.lastEventId");
  if (!number) return fail(number.error());
  if (!*number) return std::optional<task::EventNumber>();
  return std::optional(task::EventNumber{**number});
}

Result<task::Json> read_metadata(json::Value metadata, const std::string& name, NumbersWish& numbers) {
  if (!metadata.absent() && !metadata.is_object()) return wrong(name + ": must be an object");
  if (auto bad = take(read_numbers_wish(metadata, name), numbers)) return fail(*bad);
  return without_extension(metadata);
}

std::string quoted(std::string_view text) {
  std::string json;
  json::Writer(json).string(text);
  return json;
}

task::Json with_member(const task::Json& object, std::string_view name, std::string_view json) {
  const auto document = json::Document::parse_view(object.text);
  if (document && !document->root()[name].missing()) return object;
  task::Json extended{"{"};
  json::Writer writer(extended.text);
  writer.key(name).raw(json);
  if (!document) {
    extended.text += '}';
    return extended;
  }
  if (document->root().size() > 0) extended.text += ',';
  extended.text.append(object.text, object.text.find('{') + 1);
  return extended;
}

void write_strings(json::Writer& out, std::string_view name, const std::vector<std::string>& strings) {
  if (strings.empty()) return;
  out.key(name).array([&] {
    for (const std::string& text : strings) out.string(text);
  });
}

std::optional<task::Status> tool_status(const task::TaskId& task, const task::Event& event) {
  std::string facts;
  if (const auto* call = std::get_if<task::ToolCall>(&event.body)) {
    facts = facts_of(*call);
  } else if (const auto* result = std::get_if<task::ToolResult>(&event.body)) {
    facts = facts_of(*result);
  } else {
    return std::nullopt;
  }
  task::Message message;
  message.id.value = task.value + "-event-" + std::to_string(event.number.value);
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_data(task::Json{std::move(facts)}));
  return task::Status{task::State::working, std::move(message), event.at};
}

task::Json shown_metadata(const task::Json& metadata, const InStream& place) {
  return place.from ? with_from(metadata, *place.from) : metadata;
}

task::ArtifactChunk as_chunk(const task::TextDelta& delta) {
  task::ArtifactChunk chunk;
  chunk.artifact.id = delta.reply;
  chunk.artifact.ordinal = delta.ordinal;
  chunk.artifact.parts.push_back(task::Part::of_text(delta.text));
  chunk.append = !delta.first;
  chunk.last_chunk = delta.last;
  return chunk;
}

}  // namespace baton::protocol::a2a
