#include "server/mcp/mcp.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/guarded.h"
#include "base/id.h"
#include "http/accept.h"
#include "http/http_text.h"
#include "protocol/mcp/mcp.h"
#include "protocol/sse/sse_writer.h"
#include "server/a2a/negotiation.h"
#include "server/a2a/task_reads.h"
#include "server/admission/access.h"
#include "server/shared/answers.h"
#include "server/show/own_tasks.h"

namespace baton::server::mcp {
namespace {

using base::ErrorCode;
using json::Value;
using json::Writer;
using protocol::mcp::Failure;
using protocol::mcp::Request;
using std::chrono::milliseconds;

// Shorter calls are answered without a stream.
constexpr milliseconds kPlainWait{2'000};
constexpr milliseconds kLongestCall = std::chrono::hours(24);
constexpr milliseconds kProgressPause{5'000};
constexpr int kPollMs = 2'000;
constexpr int kListTtlMs = 60'000;
constexpr std::size_t kDescriptionMax = 2'000;
constexpr std::string_view kInstructions =
    "Each tool is an agent. A call is a task that goes on if the connection is lost. To go on with a "
    "conversation, "
    "pass the contextId of an earlier result; to answer a question, pass its taskId.";

http::Reply json_reply(int status, std::string body) {
  http::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

Failure failure_of(const base::Error& error) {
  const bool is_known = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large ||
                        error.code == ErrorCode::conflict || error.code == ErrorCode::unsupported;
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::task_not_found)
    return {protocol::mcp::kInvalidParams, "there is no such task"};
  if (is_known) return {protocol::mcp::kInvalidParams, error.for_caller};
  if (error.code == ErrorCode::overloaded) return {-32603, error.for_caller, 429};
  if (error.code == ErrorCode::unavailable) return {-32603, error.for_caller, 503};
  return {-32603, error.for_caller.empty() ? "internal error" : error.for_caller};
}

// Writes the envelope of a result, with the members that every result of the revision has.
template <class F>
std::string result(const Request& request, std::string_view type, F&& members) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0").key("id").raw(request.id);
    out.key("result").object([&] {
      if (request.is_modern) out.member("resultType", type);
      members(out);
    });
  });
  return body;
}

// A stream that lasts as long as a call: its blocks, which callbacks add.
struct Blocks {
  struct What {
    std::string blocks;
    bool is_over = false;
  };
  explicit Blocks(http::Waker waker) : wake(std::move(waker)) {}

  // Ignored once the stream is over.
  void add(std::string_view block, bool is_last) {
    what.with([&](What& now) {
      if (now.is_over) return;
      now.blocks += block;
      now.is_over = is_last;
    });
    wake();
  }
  bool is_over() {
    return what.with([](const What& now) { return now.is_over; });
  }

  const http::Waker wake;
  base::Guarded<What> what;
};
using BlocksPtr = std::shared_ptr<Blocks>;  // shared by the stream and the callbacks of its call

class CallStream final : public http::StreamSource {
 public:
  // `left`: called if the client leaves before the stream is over.
  CallStream(BlocksPtr blocks, std::function<void()> left)
      : blocks_(std::move(blocks)), left_(std::move(left)) {}
  ~CallStream() override {
    if (!blocks_->is_over() && left_) left_();
  }

  Next pull(std::string& out, std::size_t) override {
    return blocks_->what.with([&](Blocks::What& now) {
      out += std::exchange(now.blocks, {});
      return now.is_over ? Next::end : Next::wait;
    });
  }
  bool has_ids() const override { return true; }

 private:
  const BlocksPtr blocks_;
  const std::function<void()> left_;
};

// McpCall: a request for one agent. Answers go to the exchange, or to the call's stream once it is open.
//
// Threads: as a2a::Call.
class McpCall final : public a2a::Call {
 public:
  McpCall(std::shared_ptr<http::Exchange> exchange, Admitted by, Request read)
      : a2a::Call(std::move(by), protocol::a2a::v0_1(), a2a::Binding::json_rpc),
        request(std::move(read)),
        exchange_(std::move(exchange)) {}

  Request request;  // without its params

  void reply(std::string body, int status = 200) {
    if (stream_) return stream_->add(block_of(body), true);
    exchange_->reply(json_reply(status, std::move(body)));
  }
  void fail(const Failure& failure) {
    std::string body;
    protocol::mcp::write_failure(body, request.id, failure);
    reply(std::move(body), failure.status);
  }
  // Answers with the task as the result of the tool.
  void reply_tool(const task::Task& task) {
    if (note) note->is_about(task);
    reply(result(request, "complete",
                 [&](Writer& out) { protocol::mcp::write_tool_result(out, task, tasks_url()); }));
  }

  // Answers with a stream whose blocks callbacks add.
  void open(const std::function<void(const BlocksPtr&)>& begin, std::function<void()> left) {
    open_stream([this, begin, left = std::move(left)](http::Waker waker) {
      stream_ = std::make_shared<Blocks>(std::move(waker));
      begin(stream_);
      return std::make_unique<CallStream>(stream_, left);
    });
  }

  void answer(a2a::Answer) override { fail({-32603, "internal error"}); }
  void answer_stream(std::string) override { fail({-32603, "internal error"}); }
  a2a::ItemWriterPtr items() const override { return nullptr; }
  void block(std::function<void()> work) override { exchange_->block(std::move(work)); }
  void later(std::function<void()> work) override { exchange_->on_loop(std::move(work)); }
  const http::Request& head() const override { return exchange_->request(); }
  // Whether the client reads an event stream as the answer.
  bool takes_stream() const { return http::names_type(head(), "text/event-stream"); }

 private:
  void do_refuse(const base::Error& error, const task::TaskId&) override { fail(failure_of(error)); }
  void do_open(http::StreamOpener opener) override { exchange_->open_stream({}, std::move(opener)); }

  static std::string block_of(std::string_view body) {
    std::string block;
    protocol::append_sse(block, 0, body);
    return block;
  }

  const std::shared_ptr<http::Exchange> exchange_;
  BlocksPtr stream_;  // set on the loop, before anything is added
};
using McpCallPtr = std::shared_ptr<McpCall>;

// ---- A call of a tool.

// Last-Event-ID of a legacy stream: the task and the request that it answers.
std::string event_id(const task::TaskId& task, const Request& request, int number) {
  return task.value + "." + base::encode_base64(request.id) + "." + std::to_string(number);
}
struct ResumePoint {
  task::TaskId task;
  std::string request;
};
std::optional<ResumePoint> read_event_id(std::string_view id) {
  const std::size_t last = id.rfind('.');
  const std::size_t first = last == std::string_view::npos ? last : id.rfind('.', last - 1);
  if (last == std::string_view::npos || first == std::string_view::npos || first == 0) return std::nullopt;
  const auto request = base::decode_base64(id.substr(first + 1, last - first - 1));
  if (!request || !json::Document::parse_view(*request)) return std::nullopt;
  return ResumePoint{{std::string(id.substr(0, first))}, *request};
}

void add_progress(const McpCallPtr& call, const BlocksPtr& blocks, const task::TaskId& task, int number) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0").member("method", "notifications/progress");
    out.key("params").object([&] {
      out.key("progressToken").raw(call->request.progress_token);
      out.member("progress", number).member("message", "task " + task.value + " is working");
    });
  });
  std::string block;
  if (!call->request.is_modern)
    protocol::append_sse_field(block, "id", event_id(task, call->request, number));
  protocol::append_sse(block, 0, body);
  blocks->add(block, false);
}

// Says every few seconds that the call goes on, until the stream is over or gone.
void keep_telling(const McpCallPtr& call, const std::weak_ptr<Blocks>& stream, const task::TaskId& task,
                  int number) {
  const BlocksPtr blocks = stream.lock();
  if (!blocks || blocks->is_over()) return;
  add_progress(call, blocks, task, number);
  call->services.engine.after(kProgressPause,
                              [call, stream, task, number] { keep_telling(call, stream, task, number + 1); });
}

void answer_with(const McpCallPtr& call, task::TaskKey key, std::optional<task::EventNumber> as_of) {
  a2a::from_callback(call, key, as_of, [call, key, as_of] {
    a2a::read_task(call, {key, {}, {0, true}, as_of}, [call](base::Result<task::Task> task) {
      if (!task) return call->refuse(task.error());
      const bool asks = call->request.is_modern && protocol::mcp::can_ask(task->status, call->request.client);
      if (!asks) return call->reply_tool(*task);
      call->reply(result(call->request, "input_required", [&](Writer& out) {
        protocol::mcp::write_input_requests(out, task->status);
        out.member("requestState",
                   protocol::mcp::make_request_state(task->id, protocol::mcp::question_key(task->status)));
      }));
    });
  });
}

// Cancels the task of a client that has left; must not block.
void cancel_later(const McpCallPtr& call, task::TaskKey key) {
  const bool begins = call->services.readers.try_submit([call, key] {
    call->services.engine.cancels().cancel(key, [](const base::Result<task::TaskKey>&) {});
  });
  if (!begins) call->services.engine.after(std::chrono::seconds(1), [call, key] { cancel_later(call, key); });
}

// Follows the task in a stream until it stops.
void follow(const McpCallPtr& call, task::TaskKey key, const task::TaskId& id, task::EventNumber after) {
  call->hold = call->services.options.streams.acquire(call->identity);
  // Without a place for a stream the answer is that the task works.
  if (!call->hold) return answer_with(call, key, {});
  const auto begin = [call, key, id, after](const BlocksPtr& blocks) {
    call->services.engine.reader().await_stop(
        key, after, kLongestCall, [call, key](std::optional<engine::Stop> stop) {
          answer_with(call, key, stop ? std::optional(stop->number) : std::nullopt);
        });
    if (!call->request.progress_token.empty()) keep_telling(call, blocks, id, 0);
  };
  std::function<void()> left;
  if (call->request.is_modern) {
    left = [call, key] { cancel_later(call, key); };
  }
  call->open(begin, std::move(left));
}

void write_detailed(Writer& out, const task::Task& task, base::Timestamp created, const McpCallPtr& call) {
  protocol::mcp::write_handle(out, {task, created, kPollMs});
  if (task::is_waiting(task.status.state) && task.status.message)
    protocol::mcp::write_input_requests(out, task.status);
  if (!task::is_terminal(task.status.state) || task.status.state == task::State::canceled) return;
  out.key("result").object([&] {
    out.member("resultType", "complete");
    protocol::mcp::write_tool_result(out, task, call->tasks_url());
  });
}

// The time of the task's first event.
base::Timestamp created_at(const McpCallPtr& call, task::TaskKey key) {
  const auto first = call->services.engine.reader().events(key, {}, 1);
  return first && !first->empty() ? first->front().at : base::Timestamp{};
}

void answer_with_handle(const McpCallPtr& call, task::TaskKey key) {
  a2a::from_callback(call, key, {}, [call, key] {
    a2a::read_task(call, {key, {}, {0, true}}, [call, key](base::Result<task::Task> task) {
      if (!task) return call->refuse(task.error());
      if (task::is_terminal(task->status.state)) return call->reply_tool(*task);
      if (call->note) call->note->is_about(*task);
      call->reply(result(call->request, "task", [&](Writer& out) {
        protocol::mcp::write_handle(out, {*task, created_at(call, key), kPollMs});
      }));
    });
  });
}

// Waits for the task's stop as the client can: for a while, then by a handle or in a stream.
void await(const McpCallPtr& call, const engine::Accepted& accepted) {
  const bool gives_handle = call->request.client.tasks;
  const ServerOptions& options = call->services.options;
  const bool streams = !gives_handle && call->takes_stream();
  const milliseconds bound = gives_handle ? options.mcp_handle_after
                             : streams    ? kPlainWait
                                          : call->services.engine.settings().reply_wait;
  call->services.engine.reader().await_stop(
      accepted.key, accepted.before, bound,
      [call, accepted, gives_handle, streams](std::optional<engine::Stop> stop) {
        if (gives_handle && (!stop || task::is_waiting(stop->state)))
          return answer_with_handle(call, accepted.key);
        if (stop || !streams)
          return answer_with(call, accepted.key, stop ? std::optional(stop->number) : std::nullopt);
        call->later([call, accepted] { follow(call, accepted.key, accepted.id, accepted.before); });
      });
}

void submit(const McpCallPtr& call, protocol::a2a::SendRequest send) {
  if (const auto good = a2a::complete_send(*call, send); !good) return call->refuse(good.error());
  if (send.submission.message.id.empty()) send.submission.message.id.value = base::make_uuid();
  send.submission.origin = task::ProtocolVersion::none;
  send.submission.waits_for = task::WaitsFor::outcome;
  call->hold = call->services.options.replies.acquire(call->identity);
  if (!call->hold)
    return call->refuse(
        {ErrorCode::overloaded, "this caller waits for as many calls as it may; try again later", {}});
  call->services.engine.tasks().submit(
      std::move(send.submission), [call](base::Result<engine::Accepted> accepted) {
        if (accepted) return await(call, *accepted);
        const ErrorCode code = accepted.error().code;
        // The model that made the call can mend it.
        const bool is_for_model = code == ErrorCode::invalid_argument || code == ErrorCode::too_large ||
                                  code == ErrorCode::conflict || code == ErrorCode::unsupported ||
                                  code == ErrorCode::task_not_found || code == ErrorCode::not_found;
        if (!is_for_model) return call->refuse(accepted.error());
        const std::string text = code == ErrorCode::task_not_found || code == ErrorCode::not_found
                                     ? std::string("taskId: there is no such task")
                                     : accepted.error().for_caller;
        call->reply(result(call->request, "complete",
                           [&](Writer& out) { protocol::mcp::write_tool_error(out, text); }));
      });
}

// Sends the answer to the question that the task waits on. `done` is told whether there was such an answer.
struct Answering {
  task::TaskId task;
  std::string key;  // of the question; empty: any
  Value responses;
};
base::Result<protocol::a2a::SendRequest> answer_of(const McpCallPtr& call, const Answering& given) {
  auto task = call->services.engine.reader().read(call->ref(given.task), {0, false});
  if (!task) return base::fail(task.error());
  const task::Status& status = task->status;
  const bool is_asked = task::is_waiting(status.state) &&
                        (given.key.empty() || given.key == protocol::mcp::question_key(status));
  if (!is_asked) return base::fail(ErrorCode::already_exists, "the question is answered");
  auto message = protocol::mcp::read_input_response(given.responses, status);
  if (!message) return base::fail(message.error());
  if (!*message) return base::fail(ErrorCode::already_exists, "nothing is answered");
  protocol::a2a::SendRequest send;
  send.submission.task = task->id;
  send.submission.message = std::move(**message);
  send.submission.message.id.value = base::make_uuid();
  if (!status.asked_by.empty()) send.submission.ask = status.asked_by.front().ask;
  return send;
}

// The same call again, with the answer to the question that was its result.
void call_again(const McpCallPtr& call, Value params) {
  const auto state = protocol::mcp::read_request_state(params["requestState"].string());
  if (!state)
    return call->fail({protocol::mcp::kInvalidParams, "requestState: is not one that this server gave"});
  auto send = answer_of(call, {state->task, state->key, params["inputResponses"]});
  if (send) return submit(call, std::move(*send));
  if (send.error().code != ErrorCode::already_exists) return call->refuse(send.error());
  // The question was answered already, or is not: what the task says now is the answer.
  const auto head = call->services.engine.reader().head(call->ref(state->task));
  if (!head) return call->refuse(head.error());
  await(call, {head->key, head->id, head->context, head->turn_message, head->last_event});
}

// The arguments as the agent gets them. An agent with a schema of its own gets them whole; it, too, is
// answered by a call with a taskId.
base::Result<protocol::mcp::Arguments> arguments_for(const agents::Agent& agent, Value arguments) {
  const agents::ToolSettings& tool = agent.settings.tool;
  if (!tool.input) return protocol::mcp::read_arguments(arguments);
  const auto none = json::Document::view_of("{}");
  const Value given = arguments.absent() ? none.root() : arguments;
  const auto problem = tool.input->check(given);
  if (!problem) {
    protocol::mcp::Arguments whole;
    whole.message.parts.push_back(task::Part::of_data(given.json()));
    return whole;
  }
  if (given["taskId"].is_string()) return protocol::mcp::read_arguments(arguments);
  return base::fail(ErrorCode::invalid_argument, "arguments" + problem->pointer + ": " + problem->reason);
}

void call_tool(const McpCallPtr& call, Value params) {
  if (call->request.is_modern && !params["requestState"].absent()) return call_again(call, params);
  auto arguments = arguments_for(call->agent, params["arguments"]);
  if (!arguments) {
    return call->reply(result(call->request, "complete", [&](Writer& out) {
      protocol::mcp::write_tool_error(out, arguments.error().for_caller);
    }));
  }
  protocol::a2a::SendRequest send;
  send.submission.message = std::move(arguments->message);
  send.submission.context = std::move(arguments->context);
  send.submission.task = std::move(arguments->task);
  submit(call, std::move(send));
}

// ---- The tasks extension. One head is read for each.

void get_task(const McpCallPtr& call, const task::TaskId& id) {
  const auto head = call->services.engine.reader().head(call->ref(id));
  if (!head) return call->refuse(head.error(), id);
  a2a::read_task(call, {head->key, {}, {0, true}}, [call, key = head->key](base::Result<task::Task> task) {
    if (!task) return call->refuse(task.error());
    call->reply(result(call->request, "complete",
                       [&](Writer& out) { write_detailed(out, *task, created_at(call, key), call); }));
  });
}

void acknowledge(const McpCallPtr& call) {
  call->reply(result(call->request, "complete", [](Writer&) {}));
}

void update_task(const McpCallPtr& call, const task::TaskId& id, Value responses) {
  auto send = answer_of(call, {id, {}, responses});
  if (!send && send.error().code == ErrorCode::already_exists) return acknowledge(call);
  if (!send) return call->refuse(send.error(), id);
  if (const auto good = a2a::complete_send(*call, *send); !good) return call->refuse(good.error());
  send->submission.origin = task::ProtocolVersion::none;
  call->services.engine.tasks().submit(std::move(send->submission),
                                       [call](const base::Result<engine::Accepted>& accepted) {
                                         if (!accepted) return call->refuse(accepted.error());
                                         acknowledge(call);
                                       });
}

void cancel_task(const McpCallPtr& call, const task::TaskId& id) {
  call->services.engine.cancels().cancel(call->ref(id), [call](const base::Result<task::TaskKey>& canceled) {
    if (canceled || canceled.error().code == ErrorCode::not_cancelable) return acknowledge(call);
    call->refuse(canceled.error());
  });
}

// ---- Requests that are for no agent.

void write_server(Writer& out, const Services& services) {
  out.object([&] { out.member("name", "baton").member("version", services.options.version); });
}

void write_meta(Writer& out, const Services& services) {
  out.key("_meta").object([&] {
    out.key("io.modelcontextprotocol/serverInfo");
    write_server(out, services);
  });
}

std::string initialized(const Services& services, const Request& request) {
  return result(request, "complete", [&](Writer& out) {
    out.member("protocolVersion", protocol::mcp::agreed_version(request.params["protocolVersion"].string()));
    out.key("capabilities").object([&] { out.key("tools").object([] {}); });
    out.key("serverInfo");
    write_server(out, services);
    out.member("instructions", kInstructions);
  });
}

std::string discovered(const Services& services, const Request& request) {
  return result(request, "complete", [&](Writer& out) {
    out.key("supportedVersions").array([&] { out.string(protocol::mcp::kModern); });
    out.key("capabilities").object([&] {
      out.key("tools").object([] {});
      out.key("extensions").object([&] { out.key(protocol::mcp::kTasksExtension).object([] {}); });
    });
    out.member("instructions", kInstructions);
    out.member("ttlMs", kListTtlMs).member("cacheScope", "private");
    write_meta(out, services);
  });
}

// A description for other people's models: of one line's characters, and bounded.
std::string description_of(const task::AgentCard& card) {
  std::string text = card.description;
  for (const task::Skill& skill : card.skills) {
    if (!skill.description.empty() && skill.description != card.description)
      text += "\n- " + skill.name + ": " + skill.description;
  }
  std::erase_if(text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; });
  if (text.size() > kDescriptionMax) {
    text.resize(kDescriptionMax);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0x80) text.pop_back();
  }
  return text;
}

// An agent's name has dots, which many clients refuse in a tool's.
std::string tool_name(const task::AgentName& agent) {
  std::string name = agent.value.substr(0, 64);
  std::ranges::replace(name, '.', '_');
  return name;
}

void write_tool(Writer& out, const agents::Agent& agent) {
  const auto card = agent.shown_card();
  out.object([&] {
    out.member("name", tool_name(agent.name)).member("title", card->name);
    out.member("description", description_of(*card));
    out.key("inputSchema");
    const task::Json& own = agent.settings.tool.input_schema;
    own.empty() ? protocol::mcp::write_input_schema(out) : static_cast<void>(out.raw(own.text));
  });
}

std::string tools_listed(const Services& services, const Request& request,
                         const std::vector<const agents::Agent*>& agents) {
  return result(request, "complete", [&](Writer& out) {
    out.key("tools").each(agents, [&](const agents::Agent* agent) { write_tool(out, *agent); });
    if (!request.is_modern) return;
    out.member("ttlMs", kListTtlMs).member("cacheScope", "private");
    write_meta(out, services);
  });
}

// The agents of the entry that the caller may use.
std::vector<const agents::Agent*> usable(const Entry& entry, const http::Request& head) {
  std::vector<const agents::Agent*> agents;
  if (entry.at) {
    const agents::Agent* const agent = entry.at->endpoint.agent;
    if (agent->settings.tool.is_offered) agents.push_back(agent);
    return agents;
  }
  for (const agents::Agent* agent : entry.services.catalogue.all()) {
    if (agent->settings.tool.is_offered && authenticate(entry.services.options, head, agent->name))
      agents.push_back(agent);
  }
  return agents;
}

// The request as one for this agent; nullopt if the caller may not use it.
std::optional<Admitted> admitted_at(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent) {
  if (entry.at) return entry.at;
  auto caller = identify(entry.services.options, head, agent.name);
  if (!caller) return std::nullopt;
  if (entry.note) entry.note->came_from(caller->caller);
  const bool is_default = &agent == entry.services.catalogue.default_agent();
  return Admitted{entry.services,
                  {&agent, false, entry.address, is_default},
                  std::move(caller->caller),
                  entry.note,
                  std::move(caller->child_agents)};
}

std::optional<Admitted> for_tool(const Entry& entry, const http::Request& head, std::string_view name) {
  for (const agents::Agent* agent : usable(entry, head)) {
    if (tool_name(agent->name) == name) return admitted_at(entry, head, *agent);
  }
  return std::nullopt;
}

// The agent that has the caller's task.
std::optional<Admitted> for_task(const Entry& entry, const http::Request& head, const std::string& id) {
  if (entry.at) return entry.at;
  std::vector<task::AgentName> names;
  std::optional<task::Caller> caller;
  for (const agents::Agent* agent : usable(entry, head)) {
    auto one = authenticate(entry.services.options, head, agent->name);
    if (!one) continue;
    names.push_back(agent->name);
    caller = std::move(*one);
  }
  if (!caller || id.empty()) return std::nullopt;
  const auto found = own_tasks(entry.services.engine, *caller, names, id);
  if (!found || found->empty() || found->front().id.value != id) return std::nullopt;
  const agents::Agent* const agent = entry.services.catalogue.find(found->front().agent);
  return agent == nullptr ? std::nullopt : admitted_at(entry, head, *agent);
}

// ---- The methods.

// A request on its way to the code of its method.
struct Incoming {
  const std::shared_ptr<http::Exchange> exchange;
  const Entry entry;
  const std::shared_ptr<const json::Document> document;  // keeps the request's params
  const Request request;

  void reply(std::string body) const { exchange->reply(json_reply(200, std::move(body))); }
  void fail(const Failure& failure) const {
    std::string body;
    protocol::mcp::write_failure(body, request.id, failure);
    exchange->reply(json_reply(failure.status, std::move(body)));
  }
  McpCallPtr call(Admitted by) const {
    if (entry.reached) entry.reached(*by.endpoint.agent);
    if (by.note) by.note->calls("tools/call");
    return std::make_shared<McpCall>(exchange, std::move(by), request);
  }
};
using IncomingPtr = std::shared_ptr<const Incoming>;

void on_list(const IncomingPtr& in) {
  in->reply(tools_listed(in->entry.services, in->request, usable(in->entry, in->exchange->request())));
}

void on_call(const IncomingPtr& in) {
  const Value params = in->request.params;
  auto by = for_tool(in->entry, in->exchange->request(), params["name"].string());
  if (!by) return in->fail({protocol::mcp::kInvalidParams, "name: there is no such tool"});
  call_tool(in->call(std::move(*by)), params);
}

template <auto run>
void on_task(const IncomingPtr& in) {
  if (!in->request.client.tasks) {
    Failure failure{protocol::mcp::kMissingCapability, "the client does not declare the tasks extension",
                    400};
    Writer out(failure.data.text);
    out.object([&] {
      out.key("requiredCapabilities").object([&] {
        out.key("extensions").object([&] { out.key(protocol::mcp::kTasksExtension).object([] {}); });
      });
    });
    return in->fail(failure);
  }
  const std::string id = in->request.params["taskId"].str();
  auto by = for_task(in->entry, in->exchange->request(), id);
  if (!by) return in->fail({protocol::mcp::kInvalidParams, "there is no such task"});
  const McpCallPtr call = in->call(std::move(*by));
  if constexpr (std::is_invocable_v<decltype(run), const McpCallPtr&, const task::TaskId&, Value>) {
    run(call, {id}, in->request.params["inputResponses"]);
  } else {
    run(call, {id});
  }
}

struct Method {
  std::string_view name;
  bool modern, legacy;
  bool blocks;  // may read the store
  void (*run)(const IncomingPtr& in);
};
constexpr std::array kMethods{
    Method{"tools/call", true, true, true, &on_call},
    Method{"tools/list", true, true, true, &on_list},
    Method{"initialize", false, true, false,
           [](const IncomingPtr& in) { in->reply(initialized(in->entry.services, in->request)); }},
    Method{"ping", false, true, false,
           [](const IncomingPtr& in) { in->reply(result(in->request, {}, [](Writer&) {})); }},
    Method{"server/discover", true, false, false,
           [](const IncomingPtr& in) { in->reply(discovered(in->entry.services, in->request)); }},
    Method{"tasks/get", true, false, true, &on_task<&get_task>},
    Method{"tasks/update", true, false, true, &on_task<&update_task>},
    Method{"tasks/cancel", true, false, true, &on_task<&cancel_task>},
};

void run(const IncomingPtr& in) {
  const Request& request = in->request;
  const auto method = std::ranges::find(kMethods, request.method, &Method::name);
  const bool is_here = method != kMethods.end() && (request.is_modern ? method->modern : method->legacy);
  // A modern client takes any other 404 for another kind of server.
  if (!is_here)
    return in->fail(
        {protocol::mcp::kMethodNotFound, "there is no such method", request.is_modern ? 404 : 200});
  if (!method->blocks) return method->run(in);
  in->exchange->block([in, method] { method->run(in); });
}

// Takes up the stream of a call again.
void resume(const std::shared_ptr<http::Exchange>& exchange, const Entry& entry) {
  const http::Request& head = exchange->request();
  const auto point = read_event_id(head.header("Last-Event-ID"));
  if (!point) {
    http::Reply reply = plain_error(405, "this path is for POST, and for GET with Last-Event-ID");
    reply.headers.emplace_back("Allow", "POST");
    return exchange->reply(std::move(reply));
  }
  exchange->block([exchange, entry, point = *point] {
    auto by = for_task(entry, exchange->request(), point.task.value);
    if (!by) return exchange->reply(plain_error(404, "there is no such stream"));
    if (entry.reached) entry.reached(*by->endpoint.agent);
    Request request;
    request.id = point.request;
    const auto call = std::make_shared<McpCall>(exchange, std::move(*by), std::move(request));
    const auto task = call->services.engine.reader().head(call->ref(point.task));
    if (!task) return exchange->reply(plain_error(404, "there is no such stream"));
    const bool has_stopped = task::is_stopped(task->state);
    const task::EventNumber after{has_stopped ? task->status_event.value - 1 : task->last_event.value};
    follow(call, task->key, task->id, after);
  });
}

}  // namespace

std::optional<base::Error> refused_everywhere(const Services& services, const http::Request& request) {
  std::optional<base::Error> refused;
  for (const agents::Agent* agent : services.catalogue.all()) {
    const auto caller = authenticate(services.options, request, agent->name);
    if (caller) return std::nullopt;
    refused = caller.error();
    // A wrong token counts as one attempt, however many agents there are.
    if (refused->code == ErrorCode::unauthenticated) break;
  }
  return refused;
}

http::Reply refusal_reply(const base::Error& error, int status) {
  std::string body;
  protocol::mcp::write_failure(body, {}, failure_of(error));
  return json_reply(status, std::move(body));
}

void handle(std::shared_ptr<http::Exchange> exchange, Entry entry) {
  const http::Request& head = exchange->request();
  if (head.method == "GET") return resume(exchange, entry);
  const auto fail = [&](std::string_view id, const Failure& failure) {
    std::string body;
    protocol::mcp::write_failure(body, id, failure);
    exchange->reply(json_reply(failure.status, std::move(body)));
  };
  if (!a2a::is_json(head))
    return fail({}, {protocol::mcp::kInvalidRequest, "Content-Type: must be application/json", 415});
  auto parsed = json::Document::parse(exchange->take_body());
  if (!parsed) return fail({}, {-32700, parsed.error().for_caller, 400});
  const auto document = std::make_shared<const json::Document>(std::move(*parsed));
  const protocol::mcp::Head named{http::trimmed(head.header("MCP-Protocol-Version")),
                                  http::trimmed(head.header("Mcp-Method")),
                                  http::trimmed(head.header("Mcp-Name"))};
  auto request = protocol::mcp::read_request(document->root(), named);
  if (!request) return fail(request.error().id, request.error().failure);
  if (request->id.empty()) {  // a notification or a response: nothing here waits for one
    http::Reply accepted = json_reply(202, {});
    accepted.content_type.clear();
    return exchange->reply(std::move(accepted));
  }
  run(std::make_shared<const Incoming>(
      Incoming{std::move(exchange), std::move(entry), document, std::move(*request)}));
}

}  // namespace baton::server::mcp
