#include "server/mcp/listing.h"

#include "base/one_line.h"
#include "server/mcp/call.h"

namespace baton::server::mcp {
namespace {

using json::Writer;
using protocol::mcp::Request;

constexpr int kListTtlMs = 60'000;
constexpr std::size_t kTitleMax = 200, kDescriptionMax = 2'000;  // code points
constexpr std::string_view kInstructions =
    "Each tool is an agent. A call is a task that continues if the connection is lost. To continue a "
    "conversation, pass the contextId of an earlier result; to answer a question, pass its taskId; to wait "
    "for "
    "a task, pass only its taskId.";

void write_server(Writer& out, const Services& services) {
  out.object([&] { out.member("name", "baton").member("version", services.options.version); });
}

void write_meta(Writer& out, const Services& services) {
  out.key("_meta").object([&] {
    out.key("io.modelcontextprotocol/serverInfo");
    write_server(out, services);
  });
}

// The card's description, and a line for each skill.
std::string description_of(const task::AgentCard& card) {
  std::string text = base::one_line(card.description);
  for (const task::Skill& skill : card.skills) {
    if (skill.description.empty() || skill.description == card.description) continue;
    text += "\n- " + base::one_line(skill.name) + ": " + base::one_line(skill.description);
  }
  return base::shortened(text, kDescriptionMax);
}

std::string description_of(const task::Skill& skill) {
  return base::shortened(base::one_line(skill.description), kDescriptionMax);
}

void write_tool(Writer& out, const Tool& tool) {
  const auto card = tool.agent->shown_card();
  const std::string& title = tool.skill != nullptr ? tool.skill->name : card->name;
  out.object([&] {
    out.member("name", tool.name).member("title", base::shortened(base::one_line(title), kTitleMax));
    out.member("description", tool.skill != nullptr ? description_of(*tool.skill) : description_of(*card));
    out.key("inputSchema");
    const task::Json& own = tool.input().text;
    own.empty() ? protocol::mcp::write_input_schema(out) : static_cast<void>(out.raw(own.text));
  });
}

}  // namespace

std::string initialized(const Services& services, const Request& request) {
  return result(request, "complete", [&](Writer& out) {
    out.member("protocolVersion", protocol::mcp::agreed_version(request.params["protocolVersion"].string()));
    out.key("capabilities").object([&] {
      out.key("tools").object([&] { out.member("listChanged", true); });
      out.key("resources").object([] {});
    });
    out.key("serverInfo");
    write_server(out, services);
    out.member("instructions", kInstructions);
  });
}

std::string discovered(const Services& services, const Request& request) {
  return result(request, "complete", [&](Writer& out) {
    out.key("supportedVersions").array([&] { out.string(protocol::mcp::kModern); });
    out.key("capabilities").object([&] {
      out.key("tools").object([&] { out.member("listChanged", true); });
      out.key("resources").object([] {});
      out.key("extensions").object([&] { out.key(protocol::mcp::kTasksExtension).object([] {}); });
    });
    out.member("instructions", kInstructions);
    write_caching(out);
    write_meta(out, services);
  });
}

void write_caching(Writer& out) {
  out.member("ttlMs", kListTtlMs).member("cacheScope", "private");
}

std::string nothing_listed(const Services& services, const Request& request, std::string_view member) {
  return result(request, "complete", [&](Writer& out) {
    out.key(member).array([] {});
    if (!request.is_modern) return;
    write_caching(out);
    write_meta(out, services);
  });
}

std::string tools_listed(const Services& services, const Request& request,
                         const std::vector<const Tool*>& tools) {
  return result(request, "complete", [&](Writer& out) {
    out.key("tools").each(tools, [&](const Tool* tool) { write_tool(out, *tool); });
    if (!request.is_modern) return;
    write_caching(out);
    write_meta(out, services);
  });
}

}  // namespace baton::server::mcp
