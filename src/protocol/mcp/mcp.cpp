#include "protocol/mcp/mcp.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/base64.h"
#include "base/text.h"
#include "protocol/a2a/members.h"
#include "protocol/mcp/elicitation.h"
#include "protocol/mcp/resources.h"
#include "task/state.h"

namespace baton::protocol::mcp {
namespace {

using base::ErrorCode;
using base::Result;
using json::Value;
using json::Writer;
using task::Message;
using task::Part;
using task::State;

constexpr std::string_view kVersionMember = "io.modelcontextprotocol/protocolVersion",
                           kCapabilitiesMember = "io.modelcontextprotocol/clientCapabilities";
// The newest first.
constexpr std::array<std::string_view, 5> kLegacy{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
                                                  "2024-10-07"};
constexpr std::size_t kRequestIdMax = 1024;  // as of other JSON-RPC requests
constexpr std::size_t kNamesMax = 256;       // of ids that a caller chooses

bool is_legacy(std::string_view version) {
  return std::ranges::find(kLegacy, version) != kLegacy.end();
}

// Headers carry texts that they cannot hold as =?base64?...?=.
std::string decoded(std::string_view header) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  if (!header.starts_with(kBegin) || !header.ends_with(kEnd) || header.size() < kBegin.size() + kEnd.size())
    return std::string(header);
  header.remove_prefix(kBegin.size());
  header.remove_suffix(kEnd.size());
  return base::decode_base64(header).value_or(std::string());
}

// The member of params that the header Mcp-Name repeats; empty: none.
std::string_view named_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return {};
}

Failure mismatch(std::string_view header) {
  return {kHeaderMismatch, std::string(header) + ": is missing, or differs from the body", 400};
}

std::optional<Failure> check_modern(const Request& request, const Head& head) {
  const Value meta = request.params["_meta"];
  const Value version = meta[kVersionMember], capabilities = meta[kCapabilitiesMember];
  const auto missing = [](std::string_view member) {
    return Failure{kInvalidParams, "params._meta[\"" + std::string(member) + "\"]: is missing", 400};
  };
  if (!version.is_string()) return missing(kVersionMember);
  if (!capabilities.is_object() && !is_empty_list(capabilities)) return missing(kCapabilitiesMember);
  if (head.version != version.string()) return mismatch("MCP-Protocol-Version");
  if (head.method != request.method) return mismatch("Mcp-Method");
  const std::string_view member = named_member(request.method);
  if (!member.empty() && (head.name.empty() || decoded(head.name) != request.params[member].string()))
    return mismatch("Mcp-Name");
  if (version.string() == kModern) return std::nullopt;
  Failure failure{kUnsupportedVersion, "this version of the protocol is not spoken here", 400};
  Writer out(failure.data.text);
  out.object([&] {
    out.key("supported").array([&] { out.string(kModern); });
    out.member("requested", version.string());
  });
  return failure;
}

}  // namespace

Abilities abilities_in(Value capabilities) {
  const Value elicitation = capabilities["elicitation"];
  const bool urls = elicitation["url"].is_object();
  // An object that names no mode means forms.
  const bool forms = elicitation["form"].is_object() || (elicitation.is_object() && !urls);
  return {capabilities["extensions"][kTasksExtension].is_object(), forms, urls};
}

bool has_links(std::string_view version) {
  return version >= "2025-06-18";
}

bool is_empty_list(Value value) {
  return value.is_array() && value.size() == 0;
}

bool is_request_id(Value id) {
  return (id.is_string() || id.integer().has_value()) && id.raw().size() <= kRequestIdMax;
}

namespace {

bool is_audio(const Part& part) {
  return base::essence_of(part.media_type).starts_with("audio/");
}

// Whether the part's bytes are content that a host can show: an image or audio.
bool is_media(const Part& part) {
  const std::string type = base::essence_of(part.media_type);
  const bool is_image = type.starts_with("image/") && type != "image/svg+xml";
  return part.kind == Part::Kind::raw && (is_image || is_audio(part));
}

void write_text(Writer& out, std::string_view text) {
  out.object([&] { out.member("type", "text").member("text", text); });
}

void write_how_to_answer(Writer& out, const task::TaskId& task) {
  write_text(out, "The agent waits for an answer. To answer, call this tool again with taskId \"" +
                      task.value + "\" and the answer as message or data.");
}

struct FileAt {
  const Part& part;
  std::string url;  // of its bytes
  std::string_view name;
  bool is_served = true;  // false: the URL is only a name, because the bytes have none
};

void write_link(Writer& out, const FileAt& file) {
  out.object([&] {
    out.member("type", "resource_link").member("uri", file.url);
    out.member("name", file.name.empty() ? std::string_view("file") : file.name);
    out.optional("mimeType", file.part.media_type);
    if (file.part.kind == Part::Kind::raw)
      out.member("size", static_cast<std::int64_t>(task::content_size(file.part)));
  });
}

// Writes a file with its text, or with its bytes.
void write_embedded(Writer& out, const FileAt& file) {
  out.object([&] {
    out.member("type", "resource").key("resource").object([&] {
      out.member("uri", file.url);
      write_resource(out, file.part);
      if (!file.name.empty()) out.key("_meta").object([&] { out.member("filename", file.name); });
    });
  });
}

// Writes a file for structuredContent.
void write_file(Writer& out, const FileAt& file) {
  out.object([&] {
    out.optional("name", file.name).optional("mimeType", file.part.media_type);
    out.member("uri", file.part.kind == Part::Kind::url ? std::string_view(file.part.content) : file.url);
    if (const auto text = text_in(file.part)) out.member("text", *text);
  });
}

// Clients of revisions without links, such as earlier versions of Zed, refuse a whole result that has one.
void write_link_or_text(Writer& out, const FileAt& file, bool links) {
  if (links) return write_link(out, file);
  write_text(out, std::string(file.name) + (file.name.empty() ? "" : ": ") + file.url);
}

void write_content(Writer& out, const FileAt& file, bool links) {
  const Part& part = file.part;
  switch (part.kind) {
    case Part::Kind::text:
    case Part::Kind::data:
      return write_text(out, part.content);
    case Part::Kind::url:
      return write_link_or_text(out, {part, part.content, file.name}, links);
    case Part::Kind::raw:
      if (!is_media(part))
        return file.is_served && !text_in(part) ? write_link_or_text(out, file, links)
                                                : write_embedded(out, file);
      out.object([&] {
        out.member("type", is_audio(part) ? "audio" : "image").member("data", part.content);
        out.member("mimeType", part.media_type);
      });
  }
}

// Whether the text is the question's schema, which says nothing to a reader.
bool is_schema(const Part& part) {
  return part.kind == Part::Kind::data && json::Document::view_of(part.content).root()["schema"].is_object();
}

// All that the task says, in the order in which a reader wants it. A message that repeats what was shown
// already is left out.
template <class F>
void each_content(const task::Task& task, const std::string& tasks_url, F&& show) {
  std::set<std::string_view> shown;
  const auto url_of = [&](ResourceName::Kind kind, const std::string& id, std::size_t part) {
    return tasks_url + resource_path({task.id, kind, id, part});
  };
  for (const task::Artifact& artifact : task.artifacts) {
    for (std::size_t i = 0; i < artifact.parts.size(); ++i) {
      const Part& part = artifact.parts[i];
      if (part.kind == Part::Kind::text) shown.insert(part.content);
      show(FileAt{part, url_of(ResourceName::Kind::artifact, artifact.id.value, i),
                  part.filename.empty() ? artifact.name : part.filename});
    }
  }
  if (!task.status.message) return;
  const Message& message = *task.status.message;
  const std::size_t repeated = task.artifacts.empty() ? 0 : static_cast<std::size_t>(task.status.reply_parts);
  for (std::size_t i = repeated; i < message.parts.size(); ++i) {
    const Part& part = message.parts[i];
    if (is_schema(part) || (part.kind == Part::Kind::text && shown.contains(part.content))) continue;
    show(FileAt{part, url_of(ResourceName::Kind::message, message.id.value, i), part.filename,
                !message.id.empty()});
  }
}

Result<std::string> read_name(Value arguments, std::string_view member) {
  const Value given = arguments[member];
  if (given.absent()) return std::string();
  if (given.is_string() && given.string().size() <= kNamesMax) return given.str();
  return base::fail(ErrorCode::invalid_argument, std::string(member) + ": must be a string of at most " +
                                                     std::to_string(kNamesMax) + " bytes");
}

// Whether the value is a text that is an object or a list as JSON.
bool is_quoted(Value value) {
  const auto inner = json::Document::view_of(value.string(), json::kInString);
  return inner.root().is_object() || inner.root().is_array();
}

Result<void> add_files(Value files, Message& message) {
  if (files.absent()) return {};
  const auto inner = json::Document::view_of(files.string(), json::kInString);
  const Value list = files.is_string() ? inner.root() : files;
  if (!list.is_array()) return base::fail(ErrorCode::invalid_argument, "files: must be a list");
  for (const Value file : list) {
    auto part = a2a::read_file(file, {"mimeType"}, {"data"}, {"uri"});
    if (!part) return base::fail(ErrorCode::invalid_argument, "files: " + part.error().for_caller);
    message.parts.push_back(std::move(*part));
  }
  return {};
}

}  // namespace

tl::expected<Request, Refusal> read_request(Value root, const Head& head) {
  const auto refuse = [](std::string id, Failure failure) {
    return tl::unexpected<Refusal>({std::move(id), std::move(failure)});
  };
  if (!root.is_object())
    return refuse({}, {kInvalidRequest, "the body must be one request; batches are not taken", 400});
  Request request;
  request.is_response = root["method"].missing() && (!root["result"].missing() || !root["error"].missing());
  const Value id = root["id"];
  if (!id.missing()) {
    // A response repeats an id of this server, which may be longer (make_asking_id).
    if (!is_request_id(id) && !(request.is_response && id.is_string()))
      return refuse({}, {kInvalidRequest, "id: must be a string or a whole number", 400});
    request.id = id.raw();
  }
  if (root["jsonrpc"].string() != "2.0")
    return refuse(request.id, {kInvalidRequest, "jsonrpc: must be \"2.0\"", 400});
  if (!root["method"].is_string() && !request.is_response)
    return refuse(request.id, {kInvalidRequest, "method: must be a string", 400});
  request.method = root["method"].str();
  const Value params = root["params"];
  if (!params.absent() && !params.is_object() && !is_empty_list(params))
    return refuse(request.id, {kInvalidParams, "params: must be an object", 400});
  if (params.is_object()) request.params = params;

  const Value meta = request.params["_meta"];
  const bool says_version = !meta[kVersionMember].missing();
  // No version is agreed on yet, so the header names the newest one that the client knows.
  const bool negotiates = request.method == "initialize";
  request.is_modern = says_version || (!negotiates && !head.version.empty() && !is_legacy(head.version));
  if (request.is_modern && !says_version && head.version != kModern)
    return refuse(request.id, {kInvalidRequest, "MCP-Protocol-Version: is not known", 400});
  // Notifications may leave out the members of _meta that requests must have.
  const bool is_notification = id.missing() && !request.is_response;
  if (request.is_modern && !is_notification) {
    if (auto failure = check_modern(request, head)) return refuse(request.id, std::move(*failure));
    request.client = abilities_in(meta[kCapabilitiesMember]);
  } else if (!request.is_modern && !head.version.empty()) {
    request.client.links = has_links(head.version);
  }
  const Value token = meta["progressToken"];
  if (is_request_id(token)) request.progress_token = token.raw();
  return request;
}

std::vector<std::string> versions() {
  std::vector<std::string> all{std::string(kModern)};
  all.insert(all.end(), kLegacy.begin(), kLegacy.end());
  return all;
}

std::string_view agreed_version(std::string_view asked) {
  return is_legacy(asked) ? asked : kLegacy.front();
}

void write_failure(std::string& out, std::string_view id, const Failure& failure) {
  Writer writer(out);
  writer.object([&] {
    writer.member("jsonrpc", "2.0");
    if (!id.empty()) writer.key("id").raw(id);
    writer.key("error").object([&] {
      writer.member("code", failure.code).member("message", failure.text).optional("data", failure.data);
    });
  });
}

Result<Arguments> read_arguments(Value arguments) {
  if (!arguments.absent() && !arguments.is_object() && !is_empty_list(arguments))
    return base::fail(ErrorCode::invalid_argument, "arguments: must be an object");
  Arguments read;
  const Value message = arguments["message"];
  if (!message.absent() && !message.is_string())
    return base::fail(ErrorCode::invalid_argument, "message: must be a string");
  if (!message.string().empty()) read.message.parts.push_back(Part::of_text(message.str()));
  if (const Value data = arguments["data"]; !data.absent())
    read.message.parts.push_back(Part::of_data(is_quoted(data) ? task::Json{data.str()} : data.json()));
  if (const auto good = add_files(arguments["files"], read.message); !good) return base::fail(good.error());
  const auto context = read_name(arguments, "contextId"), task = read_name(arguments, "taskId"),
             request = read_name(arguments, "requestId");
  for (const auto* name : {&context, &task, &request}) {
    if (!*name) return base::fail(name->error());
  }
  read.context.value = *context;
  read.task.value = *task;
  read.message.id.value = *request;
  if (read.message.parts.empty() && read.task.empty())
    return base::fail(ErrorCode::invalid_argument, "message: is missing; say what the agent is to do");
  return read;
}

std::string unquoted(Value arguments) {
  std::string text;
  Writer out(text);
  out.object([&] {
    for (const Value member : arguments)
      out.key(member.key()).raw(is_quoted(member) ? member.string() : member.raw());
  });
  return text;
}

void write_input_schema(Writer& out) {
  out.raw(
      R"({"type":"object","properties":{)"
      R"("message":{"type":"string","description":"What the agent is to do, or the answer to its question."},)"
      R"("data":{"type":"object",)"
      R"("description":"JSON for the agent: input, or an answer that fits its question's schema."},)"
      R"("files":{"type":"array","description":"Files for the agent, each with its bytes or its URL.",)"
      R"("items":{"type":"object","properties":{"name":{"type":"string"},"mimeType":{"type":"string"},)"
      R"("data":{"type":"string","description":"The bytes in base64."},"uri":{"type":"string"}}}},)"
      R"("contextId":{"type":"string","description":"A conversation to go on with: the contextId of an earlier)"
      R"( result."},)"
      R"("taskId":{"type":"string","description":"A task to answer, to continue or, without a message, to wait for:)"
      R"( the taskId of an earlier result."},)"
      R"("requestId":{"type":"string","description":"A name for this call; the same call with the same name is)"
      R"( made once."}}})");
}

std::string_view status_name(State state, bool asks) {
  switch (state) {
    case State::input_required:
    case State::auth_required:
      return asks ? "input_required" : "completed";
    case State::completed:
    case State::failed:
    case State::rejected:
      return "completed";
    case State::canceled:
      return "cancelled";
    default:
      return "working";
  }
}

void write_tool_result(Writer& out, const task::Task& task, const std::string& tasks_url, bool links) {
  const State state = task.status.state;
  std::string text;
  std::vector<std::string_view> data;
  std::vector<FileAt> files;
  bool has_media = false;
  const auto write_about = [&](Writer& about, bool has_output) {
    about.object([&] {
      about.member("state", task::name_of(state));
      if (has_output) about.member("text", text);
      if (has_output && !data.empty())
        about.key("data").each(data, [&](std::string_view one) { about.raw(one); });
      if (has_output && !files.empty())
        about.key("files").each(files, [&](const FileAt& file) { write_file(about, file); });
      if (task::is_waiting(state) && task.status.message) {
        if (const std::string schema = question_schema(*task.status.message); !schema.empty())
          about.key("schema").raw(schema);
      }
      about.member("taskId", task.id.value).member("contextId", task.context.value);
    });
  };
  out.key("content").array([&] {
    each_content(task, tasks_url, [&](const FileAt& file) {
      write_content(out, file, links);
      if (file.part.kind == Part::Kind::text) text += (text.empty() ? "" : "\n") + file.part.content;
      if (file.part.kind == Part::Kind::data) data.push_back(file.part.content);
      if (file.part.kind == Part::Kind::raw || file.part.kind == Part::Kind::url) files.push_back(file);
      has_media = has_media || is_media(file.part);
    });
    if (task::is_waiting(state)) {
      write_how_to_answer(out, task.id);
    } else if (task::is_terminal(state) && state != State::completed) {
      write_text(out, "The task is " + std::string(task::name_of(state)) + ".");
    } else if (!task::is_terminal(state)) {
      write_text(out,
                 "The agent is still working. To wait for it, call this tool again with only the taskId \"" +
                     task.id.value + "\".");
    }
    // Most hosts show a model nothing but the content: Open WebUI, LibreChat, opencode, Spring AI, LangChain.
    std::string about;
    Writer in_text(about);
    write_about(in_text, false);
    write_text(out, about);
  });
  // Claude Code and Codex show a model nothing but structuredContent if a result has it. It can name files,
  // but cannot hold an image in a form that the model sees.
  if (!has_media) {
    out.key("structuredContent");
    write_about(out, true);
  }
  const bool is_error = task::is_terminal(state) && state != State::completed;
  if (is_error) out.member("isError", true);
}

void write_tool_error(Writer& out, std::string_view text, const task::TaskId& asks) {
  out.key("content").array([&] {
    write_text(out, text);
    if (!asks.empty()) write_how_to_answer(out, asks);
  });
  out.member("isError", true);
}

void write_handle(Writer& out, const Handle& handle) {
  const task::Task& task = handle.task;
  out.member("taskId", task.id.value).member("status", status_name(task.status.state, handle.asks));
  const bool says = !task::is_terminal(task.status.state) && task.status.message;
  if (says) out.optional("statusMessage", task::text_of(*task.status.message));
  out.member("createdAt", base::to_rfc3339(handle.created));
  out.member("lastUpdatedAt", base::to_rfc3339(task.status.at));
  out.key("ttlMs").null();
  out.member("pollIntervalMs", handle.poll_ms);
}

}  // namespace baton::protocol::mcp
