#include "client/grpc_call.h"

#include <algorithm>

#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::client {
namespace {

using base::ErrorCode;
using task::ProtocolVersion;

constexpr std::string_view kTasks = "/tasks/";

// Writes "a=b&c=d" as members; protobuf's JSON accepts numbers in quotes.
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

}  // namespace

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
  if (found == nullptr) return base::fail(ErrorCode::unsupported, "gRPC has no call for this");
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
