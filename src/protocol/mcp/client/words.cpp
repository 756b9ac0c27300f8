#include "protocol/mcp/client/words.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "json/writer.h"
#include "protocol/models/shared/parts.h"

namespace baton::protocol::mcp {
namespace {

using json::Value;
using json::Writer;
using std::chrono::milliseconds;
using task::Part;

constexpr std::string_view kNewestLegacy = "2025-11-25";
constexpr std::size_t kToolNameMax = 128, kDescriptionMax = 8 << 10, kSchemaMax = 64 << 10;
constexpr std::int64_t kPollMinMs = 500, kPollMaxMs = 600'000;

void write_client(Writer& out) {
  out.object([&] { out.member("name", "baton").member("version", "1"); });
}

void write_meta(Writer& out, const Spoken& how) {
  out.object([&] {
    out.member("io.modelcontextprotocol/protocolVersion", how.version);
    out.key("io.modelcontextprotocol/clientInfo");
    write_client(out);
    out.key("io.modelcontextprotocol/clientCapabilities").object([&] {
      out.key("elicitation").object([&] {
        out.key("form").object([] {});
        out.key("url").object([] {});
      });
      out.key("extensions").object([&] { out.key(kTasksExtension).object([] {}); });
    });
  });
}

// The value of a header that repeats a text of the body.
std::string header_value(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  const bool has_edges = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (std::ranges::all_of(text, is_plain) && !has_edges && !text.starts_with("=?")) return std::string(text);
  return "=?base64?" + base::encode_base64(text) + "?=";
}

// Adds the headers that repeat arguments. Returns false if the schema asks for what cannot be sent.
bool add_param_headers(Value properties, Headers& to) {
  for (const Value one : properties) {
    const Value header = one["x-mcp-header"];
    if (header.missing()) continue;
    const std::string_view type = one["type"].string();
    const bool is_simple = type == "string" || type == "integer" || type == "boolean";
    if (!is_simple || !base::is_token(header.string())) return false;
    to.emplace_back("Mcp-Param-" + header.str(), one.key());
  }
  return true;
}

std::optional<ListedTool> read_tool(Value from) {
  ListedTool tool;
  tool.name = from["name"].str();
  tool.description = base::beginning_of(from["description"].string(), kDescriptionMax);
  if (tool.description.empty())
    tool.description = base::beginning_of(from["title"].string(), kDescriptionMax);
  const Value schema = from["inputSchema"], hints = from["annotations"];
  const bool is_named = !tool.name.empty() && tool.name.size() <= kToolNameMax;
  if (!is_named || !schema.is_object() || schema.raw().size() > kSchemaMax) return std::nullopt;
  if (!add_param_headers(schema["properties"], tool.param_headers)) return std::nullopt;
  tool.schema = schema.json();
  tool.may_repeat = hints["readOnlyHint"].boolean() || hints["idempotentHint"].boolean();
  return tool;
}

std::string file_words(std::string_view kind, std::string_view name, Value bytes) {
  return "[" + std::string(kind) + (name.empty() ? "" : " " + std::string(name)) + ", " +
         std::to_string(bytes.string().size() * 3 / 4) + " bytes]";
}

// A part of a result as text. Not every model takes more, so images are named, too.
std::string words_of(Value content) {
  const std::string_view type = content["type"].string();
  if (type == "text") return content["text"].str();
  if (type == "image" || type == "audio")
    return file_words(type, content["mimeType"].string(), content["data"]);
  if (type == "resource_link") {
    const std::string name = content["title"].absent() ? content["name"].str() : content["title"].str();
    return "[" + name + ": " + content["uri"].str() + "]";
  }
  const Value resource = content["resource"];
  if (resource["text"].is_string()) return resource["text"].str();
  return file_words("file", resource["uri"].string(), resource["blob"]);
}

// Adds the image in `content` if all models' APIs take it and it fits into `room`.
void add_image(Value content, std::vector<Part>& images, std::size_t& room) {
  const bool is_image = content["type"].string() == "image";
  const Value holder = is_image ? content : content["resource"];
  const std::string_view data = holder[is_image ? "data" : "blob"].string();
  Part image{Part::Kind::raw, {}, {}, holder["mimeType"].str(), {}};
  if (data.empty() || data.size() > room || images.size() == models::kResultImagesMax) return;
  auto bytes = models::is_common_image(image) ? base::normalize_base64(data) : std::nullopt;
  if (!bytes || bytes->size() > room) return;
  room -= bytes->size();
  image.content = std::move(*bytes);
  images.push_back(std::move(image));
}

InputWanted read_wanted(Value requests) {
  InputWanted wanted;
  for (const Value one : requests) {
    if (one["method"].string() != "elicitation/create" || !wanted.key.empty()) continue;
    const Value params = one["params"];
    wanted.key = one.key();
    wanted.message = params["message"].str();
    if (wanted.message.empty()) wanted.message = "The tool needs an answer.";
    if (params["mode"].string() == "url") {
      wanted.url = params["url"].str();
    } else if (params["requestedSchema"].is_object()) {
      wanted.schema = params["requestedSchema"].json();
    }
  }
  return wanted;
}

CallResult failed(std::string text) {
  CallResult result;
  result.kind = CallResult::Kind::failed;
  result.text = std::move(text);
  return result;
}

CallResult asking(Value from) {
  CallResult result;
  result.kind = CallResult::Kind::asks;
  result.wanted = read_wanted(from["inputRequests"]);
  result.state = from["requestState"].str();
  if (result.wanted.key.empty()) return failed("the tool asks for something that Baton does not offer");
  return result;
}

CallResult working(Value from) {
  CallResult result;
  result.kind = CallResult::Kind::works;
  const auto poll = from["pollIntervalMs"].integer();
  if (poll) result.poll = milliseconds(std::clamp(*poll, kPollMinMs, kPollMaxMs));
  return result;
}

CallResult read_done(Value from) {
  CallResult result;
  std::string text;
  std::vector<Part> images;
  std::size_t room = models::kResultImageBytesMax;
  for (const Value content : from["content"]) {
    if (!text.empty()) text += "\n\n";
    text += words_of(content);
    add_image(content, images, room);
  }
  if (from["isError"].boolean()) return failed(text.empty() ? "no reason given" : std::move(text));
  const Value structured = from["structuredContent"];
  // A server repeats structured content as text.
  if (!text.empty()) {
    result.parts.push_back(Part::of_text(std::move(text)));
    std::ranges::move(images, std::back_inserter(result.parts));
  } else if (!structured.absent()) {
    result.parts.push_back(Part::of_data(structured.json()));
  } else {
    result.parts.push_back(Part::of_text("The tool finished without a result."));
  }
  return result;
}

}  // namespace

std::string write_request(const Asking& asking, const Spoken& how, int id) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0");
    if (id != 0) out.member("id", id);
    out.member("method", asking.method);
    const auto params = json::Document::view_of(asking.params.text);
    if (!how.is_modern() && asking.params.empty()) return;
    out.key("params").object([&] {
      for (const Value member : params.root()) out.key(member.key()).raw(member.raw());
      if (!how.is_modern()) return;
      out.key("_meta");
      write_meta(out, how);
    });
  });
  return body;
}

Headers headers_of(const Asking& asking, const Spoken& how) {
  Headers headers;
  if (asking.method != "initialize") headers.emplace_back("MCP-Protocol-Version", how.version);
  if (!how.session.empty()) headers.emplace_back("Mcp-Session-Id", how.session);
  if (!how.is_modern()) return headers;
  headers.emplace_back("Mcp-Method", asking.method);
  if (!asking.name.empty()) headers.emplace_back("Mcp-Name", header_value(asking.name));
  headers.insert(headers.end(), asking.headers.begin(), asking.headers.end());
  return headers;
}

Asking initialize() {
  Asking asking{"initialize"};
  Writer out(asking.params.text);
  out.object([&] {
    out.member("protocolVersion", kNewestLegacy).key("capabilities").object([] {}).key("clientInfo");
    write_client(out);
  });
  return asking;
}

std::string chosen_version(Value result) {
  const std::string version = result["protocolVersion"].str();
  // Versions from before streamable HTTP, too: many servers that speak it name 2024-11-05, whatever they are
  // asked for. The requests and answers that are used here are the same in all of them.
  const auto all = versions();
  const bool is_spoken = version != kModern && std::ranges::count(all, version) > 0;
  return is_spoken ? version : std::string();
}

std::optional<Response> read_response(Value message, int id) {
  if (!message.is_object() || !message["method"].missing()) return std::nullopt;
  const Value failure = message["error"];
  // A server that could not read the request does not know its id.
  const bool is_ours = message["id"].integer() == id || (message["id"].absent() && failure.is_object());
  if (!is_ours) return std::nullopt;
  Response response;
  if (failure.is_object()) {
    response.failure.code = static_cast<int>(failure["code"].integer().value_or(0));
    response.failure.text = failure["message"].str();
    if (response.failure.text.empty()) response.failure.text = "an error without a message";
    return response;
  }
  response.result = message["result"];
  if (!response.result.is_object()) {
    response.result = {};
    response.failure.text = "an answer without a result";
  }
  return response;
}

std::optional<std::string> reply_to(Value message) {
  const Value method = message["method"], id = message["id"];
  if (!method.is_string() || !is_request_id(id)) return std::nullopt;
  std::string body;
  if (method.string() != "ping") {
    write_failure(body, id.raw(), {kMethodNotFound, "this client does not offer it"});
    return body;
  }
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0");
    out.key("id").raw(id.raw());
    out.key("result").object([] {});
  });
  return body;
}

ToolPage read_tools(Value result) {
  ToolPage page;
  for (const Value from : result["tools"]) {
    if (auto tool = read_tool(from)) page.tools.push_back(std::move(*tool));
  }
  page.next = result["nextCursor"].str();
  return page;
}

Headers param_headers(const Headers& of_tool, Value arguments) {
  Headers headers;
  for (const auto& [header, argument] : of_tool) {
    const Value value = arguments[argument];
    if (value.absent()) continue;
    headers.emplace_back(header, value.is_string() ? header_value(value.string()) : std::string(value.raw()));
  }
  return headers;
}

CallResult read_call(Value result) {
  const std::string_view type = result["resultType"].string();
  if (type.empty() || type == "complete") return read_done(result);
  if (type == "input_required") return asking(result);
  if (type != "task" || result["taskId"].string().empty()) return failed("an answer of an unknown kind");
  CallResult begun = working(result);
  begun.task = result["taskId"].str();
  return begun;
}

CallResult read_task(Value result) {
  const std::string_view status = result["status"].string();
  if (status == "completed") return read_done(result["result"]);
  if (status == "input_required") return asking(result);
  if (status == "working") return working(result);
  if (status == "cancelled") {
    CallResult canceled;
    canceled.kind = CallResult::Kind::canceled;
    return canceled;
  }
  const std::string reason = result["error"]["message"].str();
  return failed(reason.empty() ? "no reason given" : reason);
}

std::string write_input_responses(const InputWanted& wanted, const task::Message& answer) {
  std::string content;
  bool is_declined = false;
  for (const Part& part : answer.parts) {
    if (part.kind != Part::Kind::data) continue;
    const auto data = json::Document::view_of(part.content);
    is_declined = data.root().size() == 1 && data.root()["cancelled"].boolean();
    if (data.root().is_object()) content = part.content;
  }
  // Without a schema, and to a form of unknown fields, words are the only answer that there is.
  if (content.empty() && wanted.url.empty()) {
    Writer words(content);
    words.object([&] { words.member("answer", task::text_of(answer)); });
  }
  std::string responses;
  Writer out(responses);
  out.object([&] {
    out.key(wanted.key).object([&] {
      out.member("action", is_declined ? "decline" : "accept");
      if (!is_declined && wanted.url.empty()) out.key("content").raw(content);
    });
  });
  return responses;
}

}  // namespace baton::protocol::mcp
