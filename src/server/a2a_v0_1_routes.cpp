#include "server/a2a_v0_1_routes.h"

#include <spdlog/spdlog.h>

#include <array>
#include <charconv>

#include "server/access.h"
#include "server/log_stream.h"
#include "wire/a2a/v0_1.h"
#include "wire/rpc/json_rpc.h"
#include "wire/sse/sse_writer.h"

namespace baton::server {
namespace {

namespace v0_1 = wire::v0_1;
using base::ErrorCode;

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type.empty() || type == "application/json" || type == "application/a2a+json";
}

http::Reply rpc_error(std::string_view id, const base::Error& error, int status = 200) {
  http::Reply reply;
  reply.status = status;
  wire::write_rpc_error(reply.body, id, error);
  return reply;
}

// The number a reader of the log has reached, from the header or the request's metadata.
base::Result<std::optional<task::EventNumber>> last_event_of(const http::Request& request,
                                                             const v0_1::QueryParams& params) {
  const std::string_view text = request.header("Last-Event-ID");
  if (text.empty()) return params.last_event;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return base::fail(ErrorCode::invalid_argument, "Last-Event-ID: must be a whole number from 0");
  }
  return task::EventNumber{number};
}

LogStream::View view_of(std::string rpc_id, task::TaskId task) {
  return [rpc_id = std::move(rpc_id), task = std::move(task)](const task::Event& event, std::string& data) {
    bool shown = false;
    wire::write_rpc_result(data, rpc_id,
                           [&](wire::Writer& out) { shown = v0_1::write_event(out, task, event); });
    return shown;
  };
}

}  // namespace

// One request on its way.
struct A2aV01Routes::Call {
  std::shared_ptr<http::Exchange> exchange;
  const agents::Agent& agent;
  task::Caller caller;
  std::optional<wire::Document> document;  // let go of once its params are read
  wire::RpcRequest rpc;

  task::TaskRef ref(const task::TaskId& id) const { return {caller, agent.name, id}; }
};

const A2aV01Routes::Method* A2aV01Routes::find_method(std::string_view name) {
  static constexpr std::array kMethods{
      Method{"tasks/send", &A2aV01Routes::send},
      Method{"tasks/sendSubscribe", &A2aV01Routes::send_subscribe},
      Method{"tasks/get", &A2aV01Routes::get},
      Method{"tasks/cancel", &A2aV01Routes::cancel},
      Method{"tasks/resubscribe", &A2aV01Routes::resubscribe},
      Method{"tasks/pushNotification/set", &A2aV01Routes::set_push},
      Method{"tasks/pushNotification/get", &A2aV01Routes::get_push},
  };
  for (const Method& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

void A2aV01Routes::handle(std::shared_ptr<http::Exchange> exchange, const agents::Agent& agent,
                          task::Caller caller) const {
  const auto refuse = [&](std::string_view id, const base::Error& error, int status) {
    http::Reply reply = rpc_error(id, error, status);
    reply.headers = cors_headers(services_.options, exchange->request());
    exchange->reply(std::move(reply));
  };
  if (!is_json(exchange->request().header("Content-Type"))) {
    return refuse("null", {ErrorCode::invalid_request, "Content-Type: must be application/json", {}}, 415);
  }
  auto document = wire::Document::parse(exchange->take_body());
  if (!document) return refuse("null", document.error(), 400);
  const auto call = std::make_shared<Call>(
      Call{exchange, agent, std::move(caller), std::move(*document), wire::RpcRequest{}});
  auto request = wire::read_rpc_request(call->document->root());
  if (!request) return refuse(request.error().id, request.error().error, 200);
  call->rpc = std::move(*request);
  const Method* method = find_method(call->rpc.method);
  if (!method) return reply_error(call, {ErrorCode::method_not_found, {}, {}});
  (this->*method->run)(call);
}

void A2aV01Routes::reply_error(const CallPtr& call, const base::Error& error) const {
  if (error.code == ErrorCode::internal || error.code == ErrorCode::unavailable) {
    spdlog::error("agent={} {} {}", call->agent.name.value, error.for_caller, error.for_log);
  }
  http::Reply reply = rpc_error(call->rpc.id, error);
  reply.headers = cors_headers(services_.options, call->exchange->request());
  call->exchange->reply(std::move(reply));
}

template <class F>
void A2aV01Routes::reply_result(const CallPtr& call, F&& result) const {
  http::Reply reply;
  wire::write_rpc_result(reply.body, call->rpc.id, std::forward<F>(result));
  reply.headers = cors_headers(services_.options, call->exchange->request());
  call->exchange->reply(std::move(reply));
}

void A2aV01Routes::reply_task(const CallPtr& call, task::TaskKey key, int history_length,
                              std::optional<task::EventNumber> as_of) const {
  const auto task = services_.engine.tasks().read(key, {history_length, true}, as_of);
  if (!task) return reply_error(call, task.error());
  reply_result(call, [&](wire::Writer& out) { v0_1::write_task(out, *task); });
}

// From a callback, which must not read the store itself.
void A2aV01Routes::reply_task_later(const CallPtr& call, task::TaskKey key, int history_length,
                                    std::optional<task::EventNumber> as_of) const {
  const bool taken = services_.readers.try_submit(
      [this, call, key, history_length, as_of] { reply_task(call, key, history_length, as_of); });
  if (!taken) reply_error(call, {ErrorCode::overloaded, "too many answers are waiting; use tasks/get", {}});
}

// The submission of a send. The request's text is let go of: the call may wait for long.
base::Result<wire::v0_1::SendParams> A2aV01Routes::read_send(const CallPtr& call) const {
  auto params = v0_1::read_send(call->rpc.params);
  call->rpc.params = {};
  call->document.reset();
  if (!params) return params;
  params->submission.caller = call->caller;
  params->submission.agent = call->agent.name;
  return params;
}

void A2aV01Routes::send(const CallPtr& call) const {
  auto params = read_send(call);
  if (!params) return reply_error(call, params.error());
  const bool waits = call->agent.settings.reply == agents::AgentSettings::Reply::blocking;
  services_.engine.tasks().submit(
      std::move(params->submission),
      [this, call, waits, length = params->history_length](base::Result<engine::Accepted> accepted) {
        if (!accepted) return reply_error(call, accepted.error());
        if (!waits) return reply_task_later(call, accepted->key, length, std::nullopt);
        services_.engine.tasks().wait(
            accepted->key, accepted->before, services_.engine.options().reply_wait,
            [this, call, length, key = accepted->key](std::optional<engine::Stop> stop) {
              reply_task_later(call, key, length, stop ? std::optional(stop->number) : std::nullopt);
            });
      });
}

void A2aV01Routes::send_subscribe(const CallPtr& call) const {
  auto params = read_send(call);
  if (!params) return reply_error(call, params.error());
  services_.engine.tasks().submit(
      std::move(params->submission), [this, call](base::Result<engine::Accepted> accepted) {
        if (!accepted) return reply_error(call, accepted.error());
        call->exchange->open_stream(
            cors_headers(services_.options, call->exchange->request()),
            [this, call, accepted = *accepted](http::Waker waker) -> std::unique_ptr<http::StreamSource> {
              LogStream::Start start;
              start.task = accepted.key;
              start.after = accepted.before;
              start.ends = LogStream::Ends::when_stopped;
              start.view = view_of(call->rpc.id, accepted.id);
              return std::make_unique<LogStream>(services_, std::move(start), std::move(waker));
            });
      });
}

void A2aV01Routes::get(const CallPtr& call) const {
  const auto params = v0_1::read_query(call->rpc.params);
  if (!params) return reply_error(call, params.error());
  const auto head = services_.engine.tasks().find(call->ref(params->id));
  if (!head) return reply_error(call, head.error());
  reply_task(call, head->key, params->history_length, std::nullopt);
}

void A2aV01Routes::cancel(const CallPtr& call) const {
  const auto params = v0_1::read_query(call->rpc.params);
  if (!params) return reply_error(call, params.error());
  services_.engine.tasks().cancel(call->ref(params->id), [this, call](base::Result<task::TaskKey> canceled) {
    if (!canceled) return reply_error(call, canceled.error());
    reply_task_later(call, *canceled, 0, std::nullopt);
  });
}

void A2aV01Routes::resubscribe(const CallPtr& call) const {
  const auto params = v0_1::read_query(call->rpc.params);
  if (!params) return reply_error(call, params.error());
  const auto last = last_event_of(call->exchange->request(), *params);
  if (!last) return reply_error(call, last.error());
  const auto head = services_.engine.tasks().find(call->ref(params->id));
  if (!head) return reply_error(call, head.error());

  LogStream::Start start;
  start.task = head->key;
  start.view = view_of(call->rpc.id, head->id);
  if (*last) {
    if (**last > head->last_event) {
      return reply_error(call,
                         {ErrorCode::invalid_argument,
                          "Last-Event-ID: this task's log ends at " + std::to_string(head->last_event.value),
                          {}});
    }
    start.after = **last;
    start.ended_there = task::is_terminal(head->state) && start.after == head->last_event;
  } else {
    const auto task = services_.engine.tasks().read(head->key, {params->history_length, true});
    if (!task) return reply_error(call, task.error());
    std::string data;
    wire::write_rpc_result(data, call->rpc.id, [&](wire::Writer& out) { v0_1::write_snapshot(out, *task); });
    make_one_line(data);
    wire::append_sse(start.first_block, 0, data);
    start.after = task->last_event;
    start.ended_there = task::is_terminal(task->status.state);
  }
  call->exchange->open_stream(
      cors_headers(services_.options, call->exchange->request()),
      [this, start = std::move(start)](http::Waker waker) mutable -> std::unique_ptr<http::StreamSource> {
        return std::make_unique<LogStream>(services_, std::move(start), std::move(waker));
      });
}

void A2aV01Routes::set_push(const CallPtr& call) const {
  auto params = v0_1::read_push(call->rpc.params);
  if (!params) return reply_error(call, params.error());
  services_.engine.tasks().set_push(
      call->ref(params->id), std::move(params->config),
      [this, call, id = params->id](base::Result<task::PushConfig> stored) {
        if (!stored) return reply_error(call, stored.error());
        reply_result(call, [&](wire::Writer& out) { v0_1::write_push(out, id, *stored); });
      });
}

void A2aV01Routes::get_push(const CallPtr& call) const {
  const auto params = v0_1::read_query(call->rpc.params);
  if (!params) return reply_error(call, params.error());
  const auto config = services_.engine.tasks().push_config(call->ref(params->id), {});
  if (!config) return reply_error(call, config.error());
  reply_result(call, [&](wire::Writer& out) { v0_1::write_push(out, params->id, *config); });
}

}  // namespace baton::server
