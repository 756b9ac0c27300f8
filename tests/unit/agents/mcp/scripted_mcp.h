// A scripted server of MCP tools for unit tests: raw answers by the method of each request.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "agents/mcp/mcp_tools.h"
#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "json/document.h"
#include "support/patience.h"
#include "unit/outbound/raw_server.h"

namespace baton::test {

inline std::string http_answer(const std::string& status, const std::string& body,
                               const std::string& head = {}) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + head +
         "\r\n" + body;
}

class ScriptedMcp {
 public:
  // Gets the id of the request, as JSON. Answers of a method are given in turn; the last one stays. An empty
  // answer closes the connection.
  using Answer = std::function<std::string(const std::string& id)>;

  ScriptedMcp() : server_([this](RawServer& self, int connection) { answer(self, connection); }) {
    loop_.start();
  }
  ~ScriptedMcp() {
    pool_.stop();
    loop_.stop();
  }

  void on(const std::string& method, std::vector<Answer> answers) {
    const std::lock_guard lock(mutex_);
    answers_[method] = std::move(answers);
  }
  // Answers with this result, as JSON.
  static Answer result(std::string text) {
    return [text = std::move(text)](const std::string& id) {
      return http_answer("200 OK", R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + text + "}");
    };
  }
  static Answer raw(std::string text) {
    return [text = std::move(text)](const std::string&) { return text; };
  }
  // Says nothing until the client leaves.
  static Answer silence() { return raw(std::string(kSilence)); }
  void be_modern() {
    on("server/discover", {result(R"({"resultType":"complete","supportedVersions":["2026-07-28"]})")});
  }

  agents::AgentSettings settings() const {
    agents::AgentSettings settings;
    settings.model.mcp.push_back({"", {}, {}});
    settings.model.mcp[0].server.url = server_.url();
    settings.turn_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(patience());
    return settings;
  }
  std::shared_ptr<const agents::McpServers> servers() {
    outbound::Rules rules;
    rules.policy.allow_private = true;
    return agents->set("probe", settings(), rules, {loop_, pool_, pool_});
  }

  // The methods that came, in order.
  std::vector<std::string> methods() {
    const std::lock_guard lock(mutex_);
    return methods_;
  }
  const std::string& requests() const { return server_.requests(); }
  base::EventLoop& loop() { return loop_; }

  const std::shared_ptr<agents::McpAgents> agents = std::make_shared<agents::McpAgents>();

 private:
  static constexpr std::string_view kSilence = "silence";

  void answer(RawServer& self, int connection) {
    const std::string all = self.requests();
    const std::string body = all.substr(all.rfind("\r\n\r\n") + 4);
    const auto document = json::Document::view_of(body);
    const std::string method = document.root()["method"].str(), id(document.root()["id"].raw());
    Answer next;
    {
      const std::lock_guard lock(mutex_);
      methods_.push_back(method);
      auto& answers = answers_[method];
      if (answers.empty())
        next = raw(http_answer("400 Bad Request", ""));
      else
        next = answers.front();
      if (answers.size() > 1) answers.erase(answers.begin());
    }
    const std::string text = next(id);
    if (text == kSilence) return self.be_silent(connection);
    if (!text.empty()) RawServer::say(connection, text);
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<Answer>> answers_;
  std::vector<std::string> methods_;
  base::EventLoop loop_{"mcp"};
  base::WorkerPool pool_{"mcp-work", 2, 100};
  RawServer server_;
};

}  // namespace baton::test
