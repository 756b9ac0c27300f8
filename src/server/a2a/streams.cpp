// The operations that open a stream.
#include <utility>

#include "base/guarded.h"
#include "base/text.h"
#include "protocol/a2a/baton_extension.h"
#include "server/a2a/operations.h"
#include "server/a2a/task_reads.h"
#include "server/streams/log_stream.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using protocol::a2a::TaskNames;

constexpr int kFirstPage = 128;

// The last event number the client has, from the header or else the request's metadata.
base::Result<std::optional<task::EventNumber>> last_event_of(const http::Request& request,
                                                             const protocol::a2a::TaskRequest& params) {
  const std::string_view text = request.header("Last-Event-ID");
  if (text.empty() && params.numbers.start_at) return task::EventNumber{params.numbers.start_at->value - 1};
  if (text.empty()) return params.last_event;
  const auto number = base::number_in<std::int64_t>(text);
  if (number && *number >= 0) return task::EventNumber{*number};
  return base::fail(ErrorCode::invalid_argument, "Last-Event-ID: must be a whole number of at least 0");
}

// The form of stream a request asks for.
struct StreamForm {
  bool numbered = true;                   // events have their numbers as ids
  bool covers = false;                    // events state the first number of the log that they cover
  std::optional<int> history_length = 0;  // of a Task at its start
};

// Tasks-era clients that did not ask for ids must not get any: the first released one drops a block that does
// not begin with its data.
StreamForm form_of(const Call& call, task::ProtocolVersion origin, const protocol::NumbersWish& numbers,
                   std::optional<int> history_length) {
  const bool asks = numbers.given || !call.head().header("Last-Event-ID").empty();
  return {asks || !call.rules.is_of_tasks_era(origin), numbers.every, history_length};
}

LogStream::View view_of(const ItemWriterPtr& items, TaskNames names, bool covers) {
  return [items, names = std::move(names), covers](const task::Event& event, bool last,
                                                   task::EventNumber from, std::string& item) {
    protocol::a2a::InStream place{last};
    if (covers) place.from = from;
    return items->event(item, names, event, place);
  };
}

LogStream::Framing framing_of(const ItemWriterPtr& items) {
  return [items](std::string& out, std::int64_t id, std::string& item) { items->frame(out, id, item); };
}

std::string first_frame(const CallPtr& call, const task::Task& task, bool last, task::EventNumber number) {
  std::string item, frame;
  const ItemWriterPtr items = call->items();
  items->task(item, task, last);
  items->frame(frame, number.value, item);
  return frame;
}

std::string error_frame(const CallPtr& call, const base::Error& error) {
  std::string frame;
  call->items()->error_frame(frame, error, {});
  return frame;
}

void open(const CallPtr& call, LogStream::Start start) {
  call->open_stream(
      [call, start = std::move(start)](http::Waker waker) mutable -> std::unique_ptr<http::StreamSource> {
        return std::make_unique<LogStream>(call->services, std::move(start), std::move(waker));
      });
}

// A send's stream. `task` is set if the version's streams begin with the Task.
LogStream::Start start_of_sent(const CallPtr& call, const engine::Accepted& accepted, const StreamForm& form,
                               std::optional<task::Task> task) {
  LogStream::Start start;
  start.share = std::move(call->share);
  start.task = accepted.key;
  start.after = accepted.before;
  start.ends_at = [rules = call->rules](task::State state) { return rules.stream_ends_at(state); };
  const ItemWriterPtr items = call->items();
  start.view = view_of(items, {accepted.id, accepted.context}, form.covers);
  start.framing = framing_of(items);
  start.numbered = form.numbered;
  // If the task begins later, only a subscription shows the rest.
  if (!task && accepted.delayed)
    start.ends_at = [](task::State state) { return state == task::State::submitted; };
  if (!task) return start;
  if (form.covers) task->metadata = protocol::with_from(task->metadata, {accepted.before.value + 1});
  // The Task covers the log up to `after`; the stream continues from there.
  start.first_block = first_frame(call, *task, accepted.delayed, accepted.after);
  start.after = accepted.after;
  start.ended_there = accepted.delayed;
  return start;
}

void open_sent(const CallPtr& call, const engine::Accepted& accepted, const StreamForm& form,
               std::optional<task::Task> task) {
  if (call->note) call->note->is_about(accepted.id);
  const bool begins_with_task = task.has_value();
  LogStream::Start start = start_of_sent(call, accepted, form, std::move(task));
  // If the agent has answered already, the whole stream is sent as one reply.
  if (begins_with_task) {
    auto page = call->services.engine.reader().events(accepted.key, accepted.after, kFirstPage);
    if (page) start.page = std::move(*page);
    if (auto all = LogStream::whole(start)) {
      call->share = std::move(start.share);
      return call->answer_stream(std::move(*all));
    }
  }
  open(call, std::move(start));
}

void read_and_open_sent(const CallPtr& call, const engine::Accepted& accepted, const StreamForm& form) {
  read_task(call, {accepted.key, {}, {form.history_length, true}, accepted.after},
            [call, accepted, form](base::Result<task::Task> task) {
              if (!task) return call->refuse(task.error(), accepted.id);
              open_sent(call, accepted, form, std::move(*task));
            });
}

// The stream of a message answer; becomes the task's stream if the agent does more than reply. It is open
// while the agent works, so that the client knows an answer is coming.
class MessageStream final : public http::StreamSource {
 public:
  // The content to send, once known.
  class Answer {
   public:
    explicit Answer(http::Waker waker) : wake(waker) {}
    // `share`: the block's.
    void set(std::string block, AnswerBudget::SharePtr share = nullptr) {
      if (share) share->shrink(block.capacity());
      what_.with([&](What& what) {
        what.block = std::move(block);
        what.share = std::move(share);
      });
      wake();
    }
    void set(LogStream::Start start) {
      what_.with([&](What& what) { what.task = std::move(start); });
      wake();
    }

    const http::Waker wake;

   private:
    friend MessageStream;
    struct What {
      std::optional<std::string> block;
      AnswerBudget::SharePtr share;
      std::optional<LogStream::Start> task;
    };
    base::Guarded<What> what_;
  };

  MessageStream(const Services& services, std::shared_ptr<Answer> answer)
      : services_(services), answer_(std::move(answer)) {}

  Next pull(std::string& out, std::size_t room) override {
    if (task_) return task_->pull(out, room);
    Answer::What what = answer_->what_.with([](Answer::What& now) { return std::exchange(now, {}); });
    if (what.block) {
      out += *what.block;
      share_ = std::move(what.share);
      return Next::end;
    }
    if (!what.task) return Next::wait;
    task_.emplace(services_, std::move(*what.task), answer_->wake);
    return Next::more;
  }
  std::size_t held() const override { return task_ ? task_->held() : 0; }
  bool has_share() const override { return task_ ? task_->has_share() : share_ != nullptr; }
  bool has_ids() const override { return task_ && task_->has_ids(); }

 private:
  const Services& services_;
  const std::shared_ptr<Answer> answer_;  // shared with the callback for the task's stop
  AnswerBudget::SharePtr share_;          // of the block, until the stream has ended
  std::optional<LogStream> task_;
};

void answer_stream(const CallPtr& call, const engine::Accepted& accepted, const StreamForm& form,
                   const std::shared_ptr<MessageStream::Answer>& answer) {
  const auto head = call->services.engine.reader().head(accepted.key);
  if (!head) return answer->set(error_frame(call, head.error()));
  const bool shows_task = !head->hidden;
  const auto as_of = shows_task ? std::optional(accepted.after) : std::nullopt;
  read_task(call, {accepted.key, {}, {form.history_length, true}, as_of},
            [call, accepted, form, answer, shows_task](base::Result<task::Task> task) {
              if (!task) return answer->set(error_frame(call, task.error()));
              if (shows_task) {
                return answer->set(start_of_sent(call, accepted, form, std::move(*task)));
              }
              std::string item, frame;
              const ItemWriterPtr items = call->items();
              items->message(item, *task);
              items->frame(frame, 0, item);
              answer->set(std::move(frame), std::move(call->share));
            });
}

void open_message(const CallPtr& call, const engine::Accepted& accepted, const StreamForm& form) {
  call->open_stream([call, accepted, form](http::Waker waker) -> std::unique_ptr<http::StreamSource> {
    auto answer = std::make_shared<MessageStream::Answer>(std::move(waker));
    engine::Engine& engine = call->services.engine;
    const auto stopped = [call, accepted, form, answer](std::optional<engine::Stop> stop) {
      if (!stop) return answer->set(error_frame(call, no_message_yet()));
      const bool taken = call->services.readers.try_submit(
          [call, accepted, form, answer] { answer_stream(call, accepted, form, answer); });
      if (!taken) answer->set(error_frame(call, no_message_yet()));
    };
    engine.reader().await_stop(accepted.key, accepted.before, engine.options().reply_wait, stopped);
    return std::make_unique<MessageStream>(call->services, std::move(answer));
  });
}

// A subscription from an event number: events only.
base::Result<void> begin_after(const task::TaskHead& head, task::EventNumber last, LogStream::Start& start) {
  if (last > head.last_event) {
    return base::fail(ErrorCode::invalid_argument, "event not found: the task's log ends at event " +
                                                       std::to_string(head.last_event.value));
  }
  start.after = last;
  // Later actions of operators are not shown.
  start.ended_there = task::is_terminal(head.state) && last >= head.status_event;
  return {};
}

// A subscription from now on: the Task first.
void open_now(const CallPtr& call, const task::TaskHead& head, std::optional<int> history,
              LogStream::Start start) {
  if (task::is_terminal(head.state) && !call->rules.subscribes_to_ended()) {
    return call->refuse({ErrorCode::unsupported, "the task has ended", {}}, head.id);
  }
  read_task(call, {head.key, {}, {history, true}},
            [call, id = head.id, start = std::move(start)](const base::Result<task::Task>& task) mutable {
              if (!task) return call->refuse(task.error(), id);
              start.ended_there = task::is_terminal(task->status.state);
              start.first_block = first_frame(call, *task, start.ended_there, {});
              start.after = task->last_event;
              start.share = std::move(call->share);
              open(call, std::move(start));
            });
}

// Takes one of the caller's streams before any work for the call. If none is left, or the agent's card has
// streaming off, refuses the call and returns false.
bool takes_stream(const CallPtr& call) {
  if (!call->agent.card.streaming) {
    call->refuse({ErrorCode::unsupported, "this agent does not support streaming", {}}, {});
    return false;
  }
  call->hold = call->services.options.streams.acquire(call->identity);
  if (call->hold) return true;
  call->refuse(
      {ErrorCode::overloaded, "too many of this caller's streams are open; close one or try again later", {}},
      {});
  return false;
}

}  // namespace

void send_stream(const CallPtr& call, protocol::a2a::SendRequest request) {
  if (!takes_stream(call)) return;
  if (const auto good = complete_send(*call, request); !good) return call->refuse(good.error());
  const task::TaskId named = request.submission.task;
  const StreamForm form = form_of(*call, request.submission.origin, request.numbers, request.history_length);
  request.submission.waits_for = task::WaitsFor::outcome;
  call->services.engine.tasks().submit(
      std::move(request.submission), [call, named, form](base::Result<engine::Accepted> accepted) {
        if (!accepted) return call->refuse(send_refusal(*call, std::move(accepted.error())), named);
        if (accepted->hidden) return open_message(call, *accepted, form);
        if (!call->rules.stream_begins_with_task()) return open_sent(call, *accepted, form, {});
        const std::function<void()> open = [call, accepted = *accepted, form] {
          answer_from_callback(call, accepted.key, accepted.after,
                               [call, accepted, form] { read_and_open_sent(call, accepted, form); });
        };
        // If the agent's answer is being stored, it is sent together with the Task, one flush later.
        if (!call->services.engine.live().after_change(accepted->key, open)) open();
      });
}

void subscribe(const CallPtr& call, protocol::a2a::TaskRequest request) {
  if (!takes_stream(call)) return;
  drop_inactive(*call, request.numbers);
  const auto last = last_event_of(call->head(), request);
  if (!last) return call->refuse(last.error(), request.id);
  const auto head = call->services.engine.reader().head(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  if (call->note) call->note->is_about(head->id);
  LogStream::Start start;
  start.task = head->key;
  const StreamForm form =
      form_of(*call, head->origin, request.numbers, history_of(*call, request, head->origin));
  const ItemWriterPtr items = call->items();
  start.view = view_of(items, {head->id, head->context, head->origin}, form.covers);
  start.framing = framing_of(items);
  start.numbered = form.numbered;
  if (!*last) return open_now(call, *head, form.history_length, std::move(start));
  const auto begun = begin_after(*head, **last, start);
  if (!begun) return call->refuse(begun.error(), request.id);
  open(call, std::move(start));
}

}  // namespace baton::server::a2a
