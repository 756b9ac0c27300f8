#include "protocol/a2a/members.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

constexpr std::size_t kUrlMax = 2048;
constexpr std::size_t kHeaderTextMax = 8192;
constexpr std::size_t kSchemesMax = 16;
constexpr std::size_t kSchemeMax = 64;

// Whether this URL is valid for a webhook. Whether it is allowed is decided when the webhook is sent.
bool is_http_url(std::string_view url) {
  const std::size_t scheme = base::web_scheme(url);
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
    return wrong(name + ": must not contain control characters");
  }
  if (text.size() > kHeaderTextMax) return wrong(name + ": must not be longer than 8192 bytes");
  return {};
}

// The name of an authentication scheme (RFC 9110, 11.1).
bool is_scheme(std::string_view scheme) {
  return base::is_token(scheme) && scheme.size() <= kSchemeMax;
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

Result<task::PushConfig> read_push_config(json::Value config, const std::string& name,
                                          task::ProtocolVersion version) {
  if (!config.is_object()) return wrong(name + ": must be an object");
  task::PushConfig read;
  read.version = version;
  Fields in(config, name + ".");
  in.id({"id"}, read.id.value);
  in.string({"url"}, read.url);
  in.string({"token"}, read.token);
  if (const json::Value authentication = config["authentication"]; authentication.is_object()) {
    Fields how(authentication, name + ".authentication.");
    // The one scheme of 1.0 is in the same place.
    const json::Value scheme = first_of(authentication, {"schemes", "scheme"});
    if (!scheme.is_string()) {
      how.strings({"schemes", "scheme"}, read.schemes);
    } else if (!scheme.string().empty()) {
      read.schemes.push_back(scheme.str());
    }
    how.string({"credentials"}, read.credentials);
    in.take(how.result());
  } else if (!authentication.absent()) {
    in.wrong({"authentication"}, "must be an object");
  }
  if (in.good()) in.take(check_push_config(read, name));
  return in.result(std::move(read));
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

// In the protos the page size is a plain number: 0 stands for "not given" and means all.
Result<void> read_push_page(const Params& params, PushRef& to) {
  Fields in(params, {}, Source::query);
  std::optional<std::int64_t> size;
  in.count({"pageSize", "page_size"}, size);
  in.string({"pageToken", "page_token"}, to.page_token);
  to.page_size = static_cast<int>(std::min<std::int64_t>(size.value_or(0), std::numeric_limits<int>::max()));
  return in.result();
}

namespace {

// Reads the options for event numbers from `metadata` and returns the JSON of `metadata`.
json::Value read_wish(Fields& in, NumbersWish& numbers,
                      Result<NumbersWish> (*read)(json::Value, const std::string&)) {
  const json::Value metadata = in.value({"metadata"}).json();
  if (!metadata.absent() && !metadata.is_object()) in.wrong({"metadata"}, "must be an object");
  in.read({"metadata"}, read, numbers);
  return metadata;
}

}  // namespace

void read_metadata(Fields& in, SendRequest& read) {
  const json::Value metadata = read_wish(in, read.numbers, read_send_numbers);
  in.read({"metadata"}, read_hops, read.submission.hops);
  in.read({"metadata"}, read_ask, read.submission.ask);
  in.read({"metadata"}, read_start_time, read.submission.start_at);
  in.read({"metadata"}, read_budget, read.submission.budget);
  read.submission.metadata = without_extension(metadata);
}

void read_position(Fields& in, TaskRequest& read) {
  const Param given = in.value({"metadata"});
  if (!given.absent() && !given.json().is_object())
    in.take(Result<void>(wrong("params.metadata: must be an object")));
  Fields metadata(given.json(), "params.metadata.");
  std::optional<std::int64_t> last;
  metadata.count({"lastEventId"}, last);
  in.take(metadata.result());
  if (last) read.last_event = task::EventNumber{*last};
  read_wish(in, read.numbers, read_numbers_wish);
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
