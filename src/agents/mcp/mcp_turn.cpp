#include "agents/mcp/mcp_turn.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "agents/caller_ask.h"
#include "agents/loop_turn.h"
#include "base/log.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using protocol::mcp::Asking;
using protocol::mcp::CallResult;
using protocol::mcp::InputWanted;
using std::chrono::milliseconds;
using McpEnd = McpCallEnd::Kind;
using ResultKind = CallResult::Kind;

constexpr std::size_t kTextMax = std::size_t{1} << 20;  // bytes of a result's text that are stored
constexpr milliseconds kShort{30'000};                  // for a request about a task
constexpr milliseconds kCancel{2'000};
constexpr milliseconds kLookAgain{10'000};  // at a task whose server cannot be reached

// A question of the tool that the caller has answered, as the question's message keeps it.
struct KeptQuestion {
  InputWanted wanted;
  std::string state, task;
};

constexpr const char* kKeptMember = "baton.mcp";

task::Json metadata_of(const CallResult& asks, const std::string& task) {
  task::Json metadata;
  json::Writer out(metadata.text);
  out.object([&] {
    out.key(kKeptMember).object([&] {
      out.member("key", asks.wanted.key);
      out.optional("url", asks.wanted.url).optional("state", asks.state).optional("task", task);
    });
  });
  return metadata;
}

std::optional<KeptQuestion> last_question(const std::vector<task::Message>& history) {
  for (auto message = history.rbegin(); message != history.rend(); ++message) {
    const auto document = json::Document::view_of(message->metadata.text);
    const json::Value kept = document.root()[kKeptMember];
    if (!kept.is_object()) continue;
    KeptQuestion question;
    question.wanted.key = kept["key"].str();
    question.wanted.url = kept["url"].str();
    question.state = kept["state"].str();
    question.task = kept["task"].str();
    return question;
  }
  return std::nullopt;
}

task::Message question_of(const CallResult& asks, const std::string& task) {
  task::Message question;
  question.role = task::Role::agent;
  question.parts.push_back(task::Part::of_text(asks.wanted.message));
  if (!asks.wanted.url.empty()) {
    task::Part place;
    place.kind = task::Part::Kind::url;
    place.content = asks.wanted.url;
    question.parts.push_back(std::move(place));
  }
  if (!asks.wanted.schema.empty()) {
    task::Json data;
    json::Writer out(data.text);
    out.object([&] { out.member("schema", asks.wanted.schema); });
    question.parts.push_back(task::Part::of_data(std::move(data)));
  }
  question.metadata = metadata_of(asks, task);
  return question;
}

class McpTurn : public LoopTurn<McpTurn> {
 public:
  McpTurn(std::shared_ptr<const McpAgents> agents, base::EventLoop& loop, const base::Clock& clock, Turn turn,
          std::shared_ptr<TurnSink> sink)
      : LoopTurn(loop, std::move(turn), std::move(sink)), agents_(std::move(agents)), clock_(clock) {}

  // These may be called from any thread.
  void begin() {
    post([](McpTurn& turn) { turn.find(); });
  }
  void cancel() {
    post([](McpTurn& turn) { turn.give_up(); });
  }
  void deliver(DelegateResult) {}  // it has no children

 private:
  friend LoopTurn<McpTurn>;

  void break_down(const std::string& why) {
    base::log_error(log_members(), "a tool's call failed: {}", why);
    fail("the call failed");
  }

  void find() {
    auto call = read_tool_call(input_.request ? *input_.request : input_.message);
    if (!call) return fail("the message is not a call of a tool");
    tool_ = std::move(*call);
    servers_ = McpServers::of(agents_->find(tool_.agent), input_.subject);
    server_ = servers_ ? servers_->find(tool_.url) : nullptr;
    if (!server_) return fail("the card no longer has the tool's server");
    turn_.hide([credentials = server_->credentials] { return credentials->mask(); });
    const auto kept = json::Document::view_of(input_.kept.text);
    task_ = kept.root()["task"].str();
    if (input_.canceled) return give_up();
    if (!task_.empty()) return look();
    if (input_.resume_ask.empty()) return call_tool({});
    const auto question = last_question(input_.history);
    if (!question) return fail("the tool's question is no longer known");
    task_ = question->task;
    answer(*question);
  }

  // Asks the caller. The next turn does the work of this one, unless it may already be done.
  void ask(const McpCallEnd& end) {
    task::ExecutorState state;
    if (!task_.empty()) state = state_of_task();
    finish(ask_caller(input_, *end.asks, state.state));
  }

  void answer(const KeptQuestion& question) {
    const std::string responses = protocol::mcp::write_input_responses(question.wanted, input_.message);
    if (task_.empty()) return call_tool({responses, question.state});
    request(about_task("tasks/update", responses), kShort, nullptr, [](McpTurn& turn, const McpCallEnd& end) {
      if (end.kind == McpEnd::unsent || end.kind == McpEnd::unknown) return turn.fail_to_reach(end);
      turn.keep_task();
      turn.look();
    });
  }

  struct Answered {
    std::string responses, state;  // empty: nothing was asked
  };

  void call_tool(const Answered& answered) {
    if (input_.attempt > 1 && !tool_.may_repeat) return fail_unknown("Baton was restarted during the call");
    Asking asking{"tools/call", {}, tool_.tool, tool_.headers};
    json::Writer out(asking.params.text);
    out.object([&] {
      out.member("name", tool_.tool).member("arguments", tool_.arguments);
      if (!answered.responses.empty()) out.key("inputResponses").raw(answered.responses);
      out.optional("requestState", answered.state);
    });
    request(std::move(asking), servers_->time_max, protocol::mcp::read_call,
            [](McpTurn& turn, const McpCallEnd& end) {
              if (end.kind == McpEnd::unknown) return turn.fail_unknown(turn.told(end));
              if (end.asks) return turn.ask(end);
              if (end.kind == McpEnd::unsent) return turn.fail_to_reach(end);
              end.kind == McpEnd::refused ? turn.fail(end.text) : turn.use_result();
            });
  }

  Asking about_task(std::string method, const std::string& responses = {}) const {
    Asking asking{std::move(method), {}, task_};
    json::Writer out(asking.params.text);
    out.object([&] {
      out.member("taskId", task_);
      if (!responses.empty()) out.key("inputResponses").raw(responses);
    });
    return asking;
  }

  // Looks at the task that the server has made of the call.
  void look() {
    request(about_task("tasks/get"), kShort, protocol::mcp::read_task,
            [](McpTurn& turn, const McpCallEnd& end) {
              if (end.asks) return turn.ask(end);
              if (end.kind == McpEnd::unsent || end.kind == McpEnd::unknown) return turn.wait(kLookAgain);
              end.kind == McpEnd::refused ? turn.fail(end.text) : turn.use_result();
            });
  }

  void use_result() {
    CallResult result = std::move(*result_);
    switch (result.kind) {
      case ResultKind::failed:
        return fail(std::string(base::beginning_of(result.text, kTextMax)));
      case ResultKind::canceled:
        return fail("the tool's server has canceled the call");
      case ResultKind::asks:
        return finish(Asked{input_.id, !result.wanted.url.empty(), question_of(result, task_)});
      case ResultKind::works:
        if (!result.task.empty()) {
          task_ = result.task;
          keep_task();
        }
        return wait(result.poll);
      case ResultKind::done:
        break;
    }
    task::Message said;
    said.role = task::Role::agent;
    said.parts = std::move(result.parts);
    for (task::Part& part : said.parts) {
      if (part.kind != task::Part::Kind::text || part.content.size() <= kTextMax) continue;
      part.content = std::string(base::beginning_of(part.content, kTextMax)) + "\n[cut off]";
    }
    finish(Done{std::move(said)});
  }

  // Later turns look at the task, also after a crash.
  void keep_task() { turn_.emit(state_of_task()); }

  task::ExecutorState state_of_task() const {
    task::ExecutorState state;
    json::Writer out(state.state.text);
    out.object([&] { out.member("task", task_); });
    return state;
  }

  void wait(milliseconds time) {
    Waits waits;
    waits.until = clock_.now() + time;
    finish(waits);
  }

  using Read = CallResult (*)(json::Value result);
  using Then = void (*)(McpTurn& turn, const McpCallEnd& end);

  // `read` fills result_; null: the result does not matter.
  void request(Asking asking, milliseconds time, Read read, Then then) {
    const bool may_repeat = asking.method != "tools/call" || tool_.may_repeat;
    const auto result = std::make_shared<CallResult>();  // shared by both functions
    call_.emplace(
        server_, McpRequest{std::move(asking), may_repeat, time, input_.trace, input_.account},
        [result, read](json::Value value) {
          if (read != nullptr) *result = read(value);
        },
        [weak = weak_from_this(), result, then](const McpCallEnd& end) {
          const auto self = weak.lock();
          if (!self) return;
          self->run([&](McpTurn& turn) {
            turn.result_ = std::move(*result);
            then(turn, end);
          });
        });
    call_->start();
  }

  // A modern server takes the end of the connection as a cancel of the call, but not of a task.
  void give_up() {
    const bool is_legacy = server_ && server_->spoken && !server_->spoken->is_modern();
    if (std::exchange(is_canceled_, true)) return;
    if (task_.empty() && (!is_legacy || !call_)) return finish(Canceled{});
    Asking asking = about_task("tasks/cancel");
    if (task_.empty()) {
      asking = {"notifications/cancelled"};
      json::Writer out(asking.params.text);
      out.object([&] { out.member("requestId", call_->id()); });
    }
    request(std::move(asking), kCancel, nullptr,
            [](McpTurn& turn, const McpCallEnd&) { turn.finish(Canceled{}); });
  }

  // Where the trouble is, and what it is, for the agent's author only.
  std::string told(const McpCallEnd& end) const {
    return server_->verbose_errors ? outbound::origin_of(tool_.url) + ": " + end.text : end.text;
  }

  void fail_unknown(const std::string& why) {
    fail("the outcome of the call is unknown, so it may have been carried out (" + why + ")");
  }
  void fail_to_reach(const McpCallEnd& end) { fail("the tool cannot be reached (" + told(end) + ")"); }
  void fail(std::string why) { finish(Failed{std::move(why)}); }

  // The engine may destroy the execution before this returns.
  void finish(Outcome outcome) {
    release();
    turn_.finish(std::move(outcome));
  }

  void release() {
    is_over_ = true;
    call_.reset();
  }

  const std::shared_ptr<const McpAgents> agents_;  // shared with the executor
  const base::Clock& clock_;
  McpToolCall tool_;
  std::shared_ptr<const McpServers> servers_;
  std::shared_ptr<const McpServer> server_;
  std::string task_;  // that the server has made of the call; empty: none
  std::optional<McpCall> call_;
  std::optional<CallResult> result_;
  bool is_canceled_ = false;
};

class ToolExecutor final : public Executor {
 public:
  ToolExecutor(std::shared_ptr<const McpAgents> agents, base::EventLoop& loop, const base::Clock& clock)
      : agents_(std::move(agents)), loop_(loop), clock_(clock) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return begin_loop_turn<McpTurn>(agents_, loop_, clock_, std::move(turn), std::move(sink));
  }

 private:
  const std::shared_ptr<const McpAgents> agents_;  // shared with its turns
  base::EventLoop& loop_;
  const base::Clock& clock_;
};

}  // namespace

std::unique_ptr<Executor> tool_executor(std::shared_ptr<const McpAgents> agents, base::EventLoop& loop,
                                        const base::Clock& clock) {
  return std::make_unique<ToolExecutor>(std::move(agents), loop, clock);
}

}  // namespace baton::agents
