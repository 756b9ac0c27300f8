#include "server/mcp/resources.h"

#include "server/a2a/task_reads.h"
#include "server/mcp/listing.h"

namespace baton::server::mcp {
namespace {

using json::Writer;
using protocol::mcp::ResourceName;

constexpr int kLegacyNotFound = -32002;

const task::Part* find(const task::Task& task, const ResourceName& name) {
  const std::vector<task::Part>* parts = nullptr;
  const auto& message = task.status.message;
  if (name.kind == ResourceName::Kind::message && message && message->id.value == name.id)
    parts = &message->parts;
  for (const task::Artifact& artifact : task.artifacts) {
    if (name.kind == ResourceName::Kind::artifact && artifact.id.value == name.id) parts = &artifact.parts;
  }
  return parts != nullptr && name.part < parts->size() ? &(*parts)[name.part] : nullptr;
}

}  // namespace

protocol::mcp::Failure no_such_resource(const protocol::mcp::Request& request, std::string_view uri) {
  protocol::mcp::Failure failure{request.is_modern ? protocol::mcp::kInvalidParams : kLegacyNotFound,
                                 "there is no such resource"};
  Writer out(failure.data.text);
  out.object([&] { out.member("uri", uri); });
  return failure;
}

void read_resource(const McpCallPtr& call, const ResourceName& name, const std::string& uri) {
  a2a::TaskToRead wanted{std::nullopt, call->ref(name.task), {0, true}};
  wanted.links = false;
  a2a::read_task(call, wanted, [call, name, uri](base::Result<task::Task> task) {
    const bool is_lost = !task && task.error().code == base::ErrorCode::task_not_found;
    if (!task && !is_lost) return call->refuse(task.error(), name.task);
    const task::Part* const part = task ? find(*task, name) : nullptr;
    if (part == nullptr) return call->fail(no_such_resource(call->request, uri));
    if (call->note) call->note->is_about(*task);
    call->reply(result(call->request, "complete", [&](Writer& out) {
      out.key("contents").array([&] {
        out.object([&] {
          out.member("uri", uri);
          protocol::mcp::write_resource(out, *part);
        });
      });
      if (call->request.is_modern) write_caching(out);
    }));
  });
}

}  // namespace baton::server::mcp
