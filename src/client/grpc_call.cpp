#include "client/grpc_call.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::client {
namespace {

using base::ErrorCode;
using task::ProtocolVersion;

constexpr std::string_view kTasks = "/tasks/";

// Writes "a=b&c=d" as members, with numbers in quotes, which protobuf's JSON accepts.
void write_query(json::Writer& out, std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (equals < pair.size()) {
      const std::string value = base::percent_decoded(pair.substr(equals + 1)).value_or("");
      const bool truth = value == "true" || value == "false";
      out.key(pair.substr(0, equals));
      if (truth) out.raw(value);
      if (!truth) out.string(value);
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

using Recoded = std::optional<std::string> (*)(std::string_view base64);

// Writes the value with the bytes of all files recoded. Metadata and data are arbitrary JSON and stay
// unchanged.
bool write_recoded(json::Writer& out, json::Value value, Recoded recoded) {
  bool good = true;
  if (value.is_array()) {
    out.array([&] {
      for (const json::Value item : value) good = write_recoded(out, item, recoded) && good;
    });
  } else if (value.is_object()) {
    out.object([&] {
      for (const json::Value member : value) {
        const std::string_view key = member.key();
        out.key(key);
        if (key == "fileWithBytes" && member.is_string()) {
          const auto text = recoded(member.string());
          good = good && text;
          out.string(text.value_or(""));
        } else if (key == "metadata" || key == "data") {
          out.raw(member.raw());
        } else {
          good = write_recoded(out, member, recoded) && good;
        }
      }
    });
  } else {
    out.raw(value.raw());
  }
  return good;
}

base::Result<std::string> with_files(std::string_view message, Recoded recoded) {
  const auto document = json::Document::parse_view(message);
  if (!document) return base::fail(document.error());
  std::string text;
  json::Writer out(text);
  if (write_recoded(out, document->root(), recoded)) return text;
  return base::fail(ErrorCode::invalid_argument, "the bytes of a file are not valid base64");
}

}  // namespace

base::Result<std::string> files_as_text(std::string_view message) {
  return with_files(message, [](std::string_view base64) -> std::optional<std::string> {
    const auto text = base::normalize_base64(base64);
    if (!text) return std::nullopt;
    return base::encode_base64(*text);
  });
}

base::Result<std::string> files_of_text(std::string_view message) {
  return with_files(message, [](std::string_view base64) -> std::optional<std::string> {
    const auto text = base::decode_base64(base64);
    if (!text) return std::nullopt;
    return base::normalize_base64(*text);
  });
}

base::Result<MethodCall> method_call(ProtocolVersion version, const protocol::a2a::ClientRequest& request,
                                     const std::string& tenant) {
  std::string_view path = request.path;
  if (version == ProtocolVersion::v0_3 && path.starts_with("/v1/")) path.remove_prefix(3);
  const std::size_t mark = std::min(path.find('?'), path.size());
  const std::string_view query = mark < path.size() ? path.substr(mark + 1) : std::string_view();
  path = path.substr(0, mark);
  std::string task;
  std::string_view shape = path;
  if (path.starts_with(kTasks) && path.find('/', kTasks.size()) == std::string_view::npos) {
    // Ids are percent-encoded, so a colon begins the action.
    const std::size_t colon = std::min(path.find(':', kTasks.size()), path.size());
    task = base::percent_decoded(path.substr(kTasks.size(), colon - kTasks.size())).value_or("");
    shape = path.substr(colon) == ":cancel" ? "/tasks/{t}:cancel"
            : colon < path.size()           ? "/tasks/{t}:subscribe"
                                            : "/tasks/{t}";
  }
  const protocol::grpc::Method* found = protocol::grpc::find_method(version, shape);
  if (found == nullptr) return base::fail(ErrorCode::unsupported, "gRPC does not support this operation");
  MethodCall call{found, request.body};
  if (!request.body.empty() && tenant.empty()) return call;
  call.message.clear();
  json::Writer out(call.message);
  const auto body = json::Document::parse_view(request.body.empty() ? std::string_view("{}") : request.body);
  if (!body) return base::fail(body.error());
  out.object([&] {
    out.optional("tenant", tenant);
    if (!task.empty() && version == ProtocolVersion::v0_3) out.member("name", "tasks/" + task);
    if (!task.empty() && version == ProtocolVersion::v1_0) out.member("id", task);
    for (const json::Value member : body->root()) out.key(member.key()).raw(member.raw());
    write_query(out, query);
  });
  return call;
}

}  // namespace baton::client
