#include <algorithm>

#include "wire/a2a/v0_1.h"
#include "wire/base64.h"

namespace baton::wire::v0_1 {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kHistoryMax = 1'000'000;
constexpr std::size_t kIdMax = 256;  // bytes of an id that a client makes

tl::unexpected<base::Error> wrong(std::string text) {
  return fail(ErrorCode::invalid_argument, std::move(text));
}

// The first of these members that is given.
Value first_of(Value object, std::string_view name, std::string_view other) {
  const Value value = object[name];
  return value.absent() ? object[other] : value;
}

Result<std::string> read_string(Value value, const std::string& name) {
  if (value.absent()) return std::string();
  if (!value.is_string()) return wrong(name + ": must be a string");
  return value.str();
}

Result<task::Json> read_metadata(Value owner, const std::string& name) {
  const Value metadata = owner["metadata"];
  if (metadata.absent()) return task::Json{};
  if (!metadata.is_object()) return wrong(name + ": must be an object");
  return metadata.json();
}

// A task id: a string, or a whole number as in the first documents' examples.
Result<task::TaskId> read_task_id(Value params) {
  const Value id = params["id"];
  if (params.repeats("id")) return wrong("params.id: given more than once");
  if (id.is_number() && id.integer()) return task::TaskId{std::to_string(*id.integer())};
  if (!id.is_string()) return wrong("params.id: must be a string");
  if (id.string().empty()) return wrong("params.id: must not be empty");
  if (id.string().size() > kIdMax) return wrong("params.id: must not be longer than 256 bytes");
  return task::TaskId{id.str()};
}

Result<int> read_history_length(Value params) {
  const Value length = params["historyLength"];
  if (length.absent()) return 0;
  const auto number = length.integer();
  if (!number || *number < 0) return wrong("params.historyLength: must be a whole number from 0");
  return static_cast<int>(std::min<std::int64_t>(*number, kHistoryMax));
}

Result<task::Part> read_file(Value file) {
  if (!file.is_object()) return wrong("file: must be an object");
  task::Part part;
  auto name = read_string(file["name"], "file.name");
  auto type = read_string(file["mimeType"], "file.mimeType");
  auto bytes = read_string(first_of(file, "bytes", "data"), "file.bytes");
  auto uri = read_string(file["uri"], "file.uri");
  for (const auto* text : {&name, &type, &bytes, &uri}) {
    if (!*text) return fail(text->error());
  }
  const bool has_bytes = !first_of(file, "bytes", "data").absent();
  if (has_bytes == !uri->empty()) return wrong("file: exactly one of bytes and uri is needed");
  part.filename = std::move(*name);
  part.media_type = std::move(*type);
  if (!has_bytes) {
    part.kind = task::Part::Kind::url;
    part.content = std::move(*uri);
    return part;
  }
  auto normal = normalize_base64(*bytes);
  if (!normal) return wrong("file.bytes: is not base64");
  part.kind = task::Part::Kind::raw;
  part.content = std::move(*normal);
  return part;
}

Result<task::Part> read_content(Value part) {
  const Value tag = first_of(part, "type", "kind");
  if (!tag.absent() && !tag.is_string()) return wrong("type: must be a string");
  std::string_view type = tag.string();
  if (type.empty()) type = !part["text"].missing() ? "text" : !part["file"].missing() ? "file" : "data";
  if (type == "text") {
    if (!part["text"].is_string()) return wrong("text: must be a string");
    return task::Part::of_text(part["text"].str());
  }
  if (type == "file") return read_file(part["file"]);
  if (type != "data") return wrong("type: must be text, file or data");
  const Value data = part["data"];
  if (!data.is_object() && !data.is_array()) return wrong("data: must be an object");
  return task::Part::of_data(data.json());
}

Result<task::Part> read_part(Value part) {
  if (!part.is_object()) return wrong("must be an object");
  auto read = read_content(part);
  if (!read) return read;
  auto metadata = read_metadata(part, "metadata");
  if (!metadata) return fail(metadata.error());
  read->metadata = std::move(*metadata);
  return read;
}

Result<task::Message> read_message(Value message) {
  if (!message.is_object()) return wrong("params.message: must be an object");
  task::Message read;
  const std::string_view role = message["role"].string();
  if (role != "user" && role != "agent" && !message["role"].absent()) {
    return wrong("params.message.role: must be user or agent");
  }
  const Value parts = first_of(message, "parts", "data");
  if (!parts.is_array()) return wrong("params.message.parts: must be a list");
  if (parts.size() == 0) return wrong("params.message.parts: must not be empty");
  for (const Value part : parts) {
    auto one = read_part(part);
    if (!one) {
      return wrong("params.message.parts[" + std::to_string(read.parts.size()) + "]." +
                   one.error().for_caller);
    }
    read.parts.push_back(std::move(*one));
  }
  auto metadata = read_metadata(message, "params.message.metadata");
  if (!metadata) return fail(metadata.error());
  read.metadata = std::move(*metadata);
  return read;
}

Result<std::vector<std::string>> read_strings(Value list, const std::string& name) {
  std::vector<std::string> strings;
  if (list.absent()) return strings;
  if (!list.is_array()) return wrong(name + ": must be a list of strings");
  for (const Value item : list) {
    if (!item.is_string()) return wrong(name + ": must be a list of strings");
    strings.push_back(item.str());
  }
  return strings;
}

// Whether a webhook could be sent there at all; where it may be sent is decided when it is.
bool is_http_url(std::string_view url) {
  const std::size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return false;
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  const bool printable =
      std::none_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  return printable && !host.empty() && host.find('@') == std::string_view::npos;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

Result<void> read_authentication(Value authentication, const std::string& name, task::PushConfig& config) {
  if (authentication.absent()) return {};
  if (!authentication.is_object()) return wrong(name + ": must be an object");
  const Value schemes = authentication["schemes"];
  if (schemes.is_string()) {
    config.schemes.push_back(schemes.str());
  } else {
    auto list = read_strings(schemes, name + ".schemes");
    if (!list) return fail(list.error());
    config.schemes = std::move(*list);
  }
  auto credentials = read_string(authentication["credentials"], name + ".credentials");
  if (!credentials) return fail(credentials.error());
  if (has_control_character(*credentials)) {
    return wrong(name + ".credentials: must not have control characters");
  }
  config.credentials = std::move(*credentials);
  config.authentication_extra = authentication.json();
  return {};
}

Result<task::PushConfig> read_config(Value config, const task::TaskId& id, const std::string& name) {
  if (!config.is_object()) return wrong(name + ": must be an object");
  task::PushConfig read;
  read.generation = task::Generation::v0_1;
  read.id.value = id.value;
  auto url = read_string(config["url"], name + ".url");
  if (!url) return fail(url.error());
  if (!is_http_url(*url)) return wrong(name + ".url: must be an http or https URL");
  read.url = std::move(*url);
  auto token = read_string(config["token"], name + ".token");
  if (!token) return fail(token.error());
  if (has_control_character(*token)) return wrong(name + ".token: must not have control characters");
  read.token = std::move(*token);
  if (auto done = read_authentication(config["authentication"], name + ".authentication", read); !done) {
    return fail(done.error());
  }
  return read;
}

}  // namespace

Result<SendParams> read_send(Value params) {
  if (params.missing()) return wrong("params: are missing");
  SendParams read;
  task::Submission& submission = read.submission;
  auto id = read_task_id(params);
  if (!id) return fail(id.error());
  submission.task = std::move(*id);
  auto session = read_string(params["sessionId"], "params.sessionId");
  if (!session) return fail(session.error());
  if (session->size() > kIdMax) return wrong("params.sessionId: must not be longer than 256 bytes");
  submission.context.value = std::move(*session);
  auto message = read_message(params["message"]);
  if (!message) return fail(message.error());
  submission.message = std::move(*message);
  auto metadata = read_metadata(params, "params.metadata");
  if (!metadata) return fail(metadata.error());
  submission.metadata = std::move(*metadata);
  auto modes = read_strings(params["acceptedOutputModes"], "params.acceptedOutputModes");
  if (!modes) return fail(modes.error());
  submission.accepted_output_modes = std::move(*modes);
  auto history = read_history_length(params);
  if (!history) return fail(history.error());
  read.history_length = *history;
  if (!params["pushNotification"].absent()) {
    auto config = read_config(params["pushNotification"], submission.task, "params.pushNotification");
    if (!config) return fail(config.error());
    submission.push = std::move(*config);
  }
  submission.when_unknown = task::WhenUnknown::create;
  submission.when_ended = task::WhenEnded::reopen;
  return read;
}

Result<QueryParams> read_query(Value params) {
  if (params.missing()) return wrong("params: are missing");
  QueryParams read;
  auto id = read_task_id(params);
  if (!id) return fail(id.error());
  read.id = std::move(*id);
  auto history = read_history_length(params);
  if (!history) return fail(history.error());
  read.history_length = *history;
  if (auto metadata = read_metadata(params, "params.metadata"); !metadata) return fail(metadata.error());
  const Value last = params["metadata"]["lastEventId"];
  if (last.absent()) return read;
  const auto number = last.integer();
  if (!number || *number < 0) return wrong("params.metadata.lastEventId: must be a whole number from 0");
  read.last_event = task::EventNumber{*number};
  return read;
}

Result<PushParams> read_push(Value params) {
  if (params.missing()) return wrong("params: are missing");
  auto id = read_task_id(params);
  if (!id) return fail(id.error());
  auto config = read_config(params["pushNotificationConfig"], *id, "params.pushNotificationConfig");
  if (!config) return fail(config.error());
  return PushParams{std::move(*id), std::move(*config)};
}

}  // namespace baton::wire::v0_1
