#include "agents/mcp/mcp_tools.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

constexpr std::size_t kOfferedMax = 512;  // tools in a turn
constexpr int kPagesMax = 100;            // of one list

bool is_offered(const ToolServer& server, const std::string& tool) {
  return server.tools.empty() || std::ranges::count(server.tools, tool) > 0;
}

}  // namespace

std::shared_ptr<const McpServer> McpServers::find(const std::string& url) const {
  const auto found =
      std::ranges::find_if(all, [&](const auto& one) { return one->settings.server.url == url; });
  return found == all.end() ? nullptr : *found;
}

std::shared_ptr<const McpServers> McpServers::of(const std::shared_ptr<const McpServers>& servers,
                                                 const task::SubjectTokenPtr& subject) {
  if (!servers) return servers;
  auto own = std::make_shared<McpServers>();
  own->time_max = servers->time_max;
  bool differs = false;
  for (const auto& one : servers->all) {
    auto credentials = one->credentials->of(subject);
    if (credentials == one->credentials) {
      own->all.push_back(one);
      continue;
    }
    auto copy = std::make_shared<McpServer>(*one);
    copy->credentials = std::move(credentials);
    copy->spoken.reset();
    own->all.push_back(std::move(copy));
    differs = true;
  }
  return differs ? own : servers;
}

std::vector<std::string> McpServers::missing() const {
  std::vector<std::string> lines;
  for (const auto& one : all) {
    const std::string& url = one->settings.server.url;
    const auto more = outbound::missing_outside(!one->credentials->missing(),
                                                "the key for the tools at " + outbound::origin_of(url),
                                                one->rules.refusal_of(url));
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

std::shared_ptr<const McpServers> McpAgents::set(const std::string& agent, const AgentSettings& settings,
                                                 const outbound::Rules& rules, const LoopServices& services) {
  auto servers = std::make_shared<McpServers>();
  servers->time_max = settings.turn_timeout;
  for (const ToolServer& one : settings.model.mcp) {
    const outbound::Rules own = rules.of(one.server);
    servers->all.push_back(std::make_shared<const McpServer>(
        McpServer{one, own, std::make_shared<outbound::Credentials>(one.server, own), services,
                  settings.line_max, settings.verbose_errors}));
  }
  all_.with([&](auto& all) { all[agent] = servers; });
  return servers;
}

std::shared_ptr<const McpServers> McpAgents::find(const std::string& agent) const {
  return all_.with([&](const auto& all) {
    const auto found = all.find(agent);
    return found == all.end() ? nullptr : found->second;
  });
}

void McpListing::ask_next_server() {
  if (at_ == servers_->all.size()) return end({});
  cursor_.clear();
  pages_ = 0;
  ask();
}

void McpListing::ask() {
  McpRequest request{{"tools/list"}, true, about_.time_max, about_.trace, about_.account};
  if (!cursor_.empty()) {
    json::Writer out(request.asking.params.text);
    out.object([&] { out.member("cursor", cursor_); });
  }
  const auto page = std::make_shared<protocol::mcp::ToolPage>();  // shared by both functions
  call_.emplace(
      servers_->all[at_], std::move(request),
      [page](json::Value result) { *page = protocol::mcp::read_tools(result); },
      [this, page](const McpCallEnd& end) { add_page(end, std::move(*page)); });
  call_->start();
}

void McpListing::add_page(const McpCallEnd& end, protocol::mcp::ToolPage page) {
  const std::shared_ptr<const McpServer>& server = servers_->all[at_];
  const std::string origin = outbound::origin_of(server->settings.server.url);
  if (end.kind != McpCallEnd::Kind::answered) {
    asks_ = end.asks;
    base::log_warn({}, "the tools at {} cannot be listed: {}", origin, end.text);
    return this->end("its tools are unavailable" +
                     (server->verbose_errors ? " (" + origin + ": " + end.text + ")" : std::string()));
  }
  for (auto& tool : page.tools) {
    if (is_offered(server->settings, tool.name) && tools_.size() < kOfferedMax)
      tools_.push_back({server, std::move(tool)});
  }
  cursor_ = std::move(page.next);
  if (!cursor_.empty() && ++pages_ < kPagesMax) return ask();
  ++at_;
  ask_next_server();
}

void McpListing::end(std::string error) {
  const auto on_end = std::move(on_end_);
  on_end(std::move(error), std::move(tools_));
}

task::Message message_of(const McpToolCall& call) {
  task::Json data;
  json::Writer out(data.text);
  out.object([&] {
    out.key("mcp").object([&] {
      out.member("agent", call.agent).member("url", call.url).member("tool", call.tool);
      out.member("repeats", call.may_repeat);
      out.key("headers").object([&] {
        for (const auto& [name, value] : call.headers) out.member(name, value);
      });
    });
    out.member("arguments", call.arguments);
  });
  task::Message message;
  message.parts.push_back(task::Part::of_data(std::move(data)));
  return message;
}

std::optional<McpToolCall> read_tool_call(const task::Message& message) {
  if (message.parts.size() != 1 || message.parts.front().kind != task::Part::Kind::data) return std::nullopt;
  const auto document = json::Document::view_of(message.parts.front().content);
  const json::Value of_mcp = document.root()["mcp"], arguments = document.root()["arguments"];
  if (!of_mcp.is_object() || !arguments.is_object()) return std::nullopt;
  McpToolCall call{of_mcp["agent"].str(), of_mcp["url"].str(), of_mcp["tool"].str(),
                   of_mcp["repeats"].boolean()};
  for (const json::Value header : of_mcp["headers"]) call.headers.emplace_back(header.key(), header.str());
  call.arguments = arguments.json();
  return call;
}

}  // namespace baton::agents
