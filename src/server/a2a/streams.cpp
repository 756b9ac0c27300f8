// The operations that open a stream.
#include <charconv>

#include "server/a2a/operations.h"
#include "server/log_stream.h"
#include "wire/sse/sse_writer.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using wire::a2a::TaskNames;

constexpr int kFirstPage = 128;

// The number a reader of the log has reached, from the header or the request's metadata.
base::Result<std::optional<task::EventNumber>> last_event_of(const http::Request& request,
                                                             const wire::a2a::TaskRequest& params) {
  const std::string_view text = request.header("Last-Event-ID");
  if (text.empty()) return params.last_event;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return base::fail(ErrorCode::invalid_argument, "Last-Event-ID: must be a whole number from 0");
  }
  return task::EventNumber{number};
}

LogStream::View view_of(const CallPtr& call, TaskNames names) {
  // Without the call: a stream may stay for hours, and thousands do.
  return [envelope = call->envelope, &dialect = call->dialect, names = std::move(names)](
             const task::Event& event, bool last, std::string& data) {
    bool shown = false;
    envelope.wrap(data, [&](wire::Writer& out) { shown = dialect.write_event(out, names, event, last); });
    return shown;
  };
}

std::string first_block(const CallPtr& call, const task::Task& task, bool last) {
  std::string data, block;
  call->envelope.wrap(data, [&](wire::Writer& out) { call->dialect.write_first(out, task, last); });
  make_one_line(data);
  wire::append_sse(block, 0, data);
  return block;
}

void open(const CallPtr& call, LogStream::Start start) {
  call->open_stream(
      [call, start = std::move(start)](http::Waker waker) mutable -> std::unique_ptr<http::StreamSource> {
        return std::make_unique<LogStream>(call->services, std::move(start), std::move(waker));
      });
}

void open_sent(const CallPtr& call, const engine::Accepted& accepted, std::optional<int> history) {
  LogStream::Start start;
  start.task = accepted.key;
  start.after = accepted.before;
  start.ends_at = [&dialect = call->dialect](task::State state) { return dialect.stream_ends_at(state); };
  start.view = view_of(call, {accepted.id, accepted.context});
  if (call->dialect.stream_begins_with_task()) {
    const auto task = call->services.engine.tasks().read(accepted.key, {history, true}, accepted.after);
    if (!task) return call->refuse(task.error(), accepted.id);
    start.first_block = first_block(call, *task, false);
    // The Task shows these; their numbers come after it.
    for (std::int64_t number = accepted.before.value; number < accepted.after.value;) {
      wire::append_sse_id(start.first_block, ++number);
    }
    start.after = accepted.after;
    // An agent that answers at once is done by now, and forgotten by the feed: all of it leaves together.
    if (!call->services.engine.feed().after(accepted.key, accepted.after, 1).known) {
      auto page = call->services.engine.tasks().events(accepted.key, accepted.after, kFirstPage);
      if (page) start.page = std::move(*page);
      if (auto all = LogStream::whole(start)) return call->reply_stream(std::move(*all));
    }
  }
  open(call, std::move(start));
}

void refuse_stream(const CallPtr& call, const base::Error& error, const task::TaskId& named) {
  const bool in_stream =
      call->dialect.refuses_in_stream() && call->exchange->request().header("Accept") == "text/event-stream";
  if (in_stream) return call->refuse_in_stream(error, named);
  call->refuse(error, named);
}

// From a number on: events only.
base::Result<void> begin_after(const store::TaskHead& head, task::EventNumber last, LogStream::Start& start) {
  if (last > head.last_event) {
    return base::fail(ErrorCode::invalid_argument,
                      "Last-Event-ID: this task's log ends at " + std::to_string(head.last_event.value));
  }
  start.after = last;
  start.ended_there = task::is_terminal(head.state) && last == head.last_event;
  return {};
}

// From now on: the Task first.
base::Result<void> begin_now(const CallPtr& call, const store::TaskHead& head, std::optional<int> history,
                             LogStream::Start& start) {
  if (task::is_terminal(head.state) && !call->dialect.subscribes_to_ended()) {
    return base::fail(ErrorCode::unsupported, "the task has ended");
  }
  const auto task = call->services.engine.tasks().read(head.key, {history, true});
  if (!task) return base::fail(task.error());
  start.ended_there = task::is_terminal(task->status.state);
  start.first_block = first_block(call, *task, start.ended_there);
  start.after = task->last_event;
  return {};
}

// Answers for an agent whose card says that it does not stream.
bool refuse_all_streams(const CallPtr& call) {
  if (call->agent.card.streaming) return false;
  refuse_stream(call, {ErrorCode::unsupported, "the agent has switched streaming off", {}}, {});
  return true;
}

}  // namespace

void send_stream(const CallPtr& call) {
  if (refuse_all_streams(call)) return;
  auto request = read_send(call);
  if (!request) return refuse_stream(call, request.error(), {});
  const task::TaskId named = request->submission.task;
  call->services.engine.tasks().submit(
      std::move(request->submission),
      [call, named, history = request->history_length](base::Result<engine::Accepted> accepted) {
        if (!accepted) return refuse_stream(call, send_refusal(call, std::move(accepted.error())), named);
        if (!call->dialect.stream_begins_with_task()) return open_sent(call, *accepted, history);
        // The Task is read from the store, which a callback must not do.
        std::function<void()> open = [call, accepted = *accepted, history] {
          const bool taken = call->services.readers.try_submit(
              [call, accepted, history] { open_sent(call, accepted, history); });
          if (!taken)
            call->refuse({ErrorCode::overloaded, "too many answers are waiting; subscribe later", {}});
        };
        // Where the agent has answered already, its answer is on its way to the disk: it leaves together with
        // the Task, a flush later.
        if (!call->services.engine.tasks().after_change(accepted->key, open)) open();
      });
}

void subscribe(const CallPtr& call) {
  if (refuse_all_streams(call)) return;
  const auto request = read_task_request(call);
  if (!request) return refuse_stream(call, request.error(), {});
  const auto last = last_event_of(call->exchange->request(), *request);
  if (!last) return refuse_stream(call, last.error(), request->id);
  const auto head = call->services.engine.tasks().find(call->ref(request->id));
  if (!head) return refuse_stream(call, head.error(), request->id);
  LogStream::Start start;
  start.task = head->key;
  start.view = view_of(call, {head->id, head->context, head->origin});
  const auto begun =
      *last ? begin_after(*head, **last, start) : begin_now(call, *head, request->history_length, start);
  if (!begun) return refuse_stream(call, begun.error(), request->id);
  open(call, std::move(start));
}

}  // namespace baton::server::a2a
