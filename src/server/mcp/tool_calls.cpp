#include "server/mcp/tool_calls.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/id.h"
#include "base/one_line.h"
#include "protocol/mcp/elicitation.h"
#include "server/a2a/task_reads.h"
#include "server/mcp/handles.h"

namespace baton::server::mcp {
namespace {

using base::ErrorCode;
using json::Value;
using json::Writer;
using protocol::mcp::Question;
using std::chrono::milliseconds;

// Shorter calls are answered without a stream.
constexpr milliseconds kPlainWait{2'000};
// A look for the stop of a task; also the longest pause between two messages of progress.
constexpr milliseconds kLook{5'000};
// A look of a stream with progress.
constexpr milliseconds kProgressLook{1'000};
constexpr int kPage = 128, kPagesMax = 8;  // of the log, at one look
constexpr std::size_t kWordsMax = 500;     // code points of a message of progress
constexpr double kFractionMax = 1e6;       // of an agent's progress
// The time between the end of a call whose client has left and the cancel of its run.
constexpr milliseconds kLeaveGrace{1'000};

// Whether the client can be asked in the stream of a call.
bool is_asked_in_stream(const McpCall& call) {
  const protocol::mcp::Abilities& client = call.request.client;
  return !call.request.is_modern && (client.forms || client.urls);
}

// A call waits for the first stop of a task after an event.
struct Run {
  task::TaskKey key;
  task::TaskId id;
  task::EventNumber after;
};

void answer_with(const McpCallPtr& call, task::TaskKey key, std::optional<task::EventNumber> as_of) {
  // The task as it is now: so question_of does not read the store either.
  a2a::answer_from_callback(call, key, {}, [call, key, as_of] {
    a2a::read_task(call, {key, {}, {0, true}, as_of}, [call, key](base::Result<task::Task> task) {
      if (!task) return call->refuse(task.error());
      const Question question = question_of(call, key, *task);
      if (!call->request.is_modern || !protocol::mcp::can_ask(question, call->request.client))
        return call->reply_tool(*task);
      if (call->note) call->note->is_about(*task);
      call->reply(result(call->request, "input_required", [&](Writer& out) {
        protocol::mcp::write_input_requests(out, question);
        out.member("requestState", protocol::mcp::make_request_state({task->id, question.ask}));
      }));
    });
  });
}

// ---- The stream of a call.

// The progress that a call has told; each message has a larger number than the one before. An agent's own
// fraction counts in hundredths.
struct Progress {
  std::int64_t begun = 0;  // the number of the first message
  double number = 0;       // of the last message
  bool is_told = false;    // there was a message
  base::SteadyTime::time_point at{};

  // The number of the next message. `fraction`: what the agent says; negative: nothing.
  double next(double fraction) {
    constexpr double kWhole = 100, kLeast = 0.01;
    if (!std::exchange(is_told, true))
      return number = std::max(static_cast<double>(begun), fraction * kWhole);
    const double least = fraction >= 0 || number != std::floor(number) ? kLeast : 1;
    return number = std::max(number + least, fraction * kWhole);
  }
};

// One stream that follows a run. Held by the callback of its look.
struct Following : std::enable_shared_from_this<Following> {
  Following(McpCallPtr of, Run follows, std::int64_t first_number)
      : call(std::move(of)), run(std::move(follows)) {
    progress.begun = first_number;
  }

  // Ends with the answer, or with the look after the client has left.
  void look() {
    if (call->has_left()) return;
    if (!tells_progress()) return wait(kLook);
    const auto tell = [self = shared_from_this()] {
      self->tell_statuses();
      self->tell_life();
      self->wait(kProgressLook);
    };
    if (!call->services.readers.try_submit(tell)) wait(kProgressLook);
  }

  void stopped(const engine::Stop& stop) {
    a2a::answer_from_callback(call, run.key, {}, [self = shared_from_this(), stop] {
      if (self->tells_progress()) self->tell_statuses();
      const bool may_ask = is_asked_in_stream(*self->call) && !self->call->has_left();
      if (may_ask && task::is_waiting(stop.state)) return self->ask(stop.number);
      answer_with(self->call, self->run.key, stop.number);
    });
  }

 private:
  bool tells_progress() const { return !call->request.progress_token.empty(); }

  void wait(milliseconds bound) {
    const auto until = base::SteadyTime::now() + bound;
    call->services.engine.reader().await_stop(
        run.key, run.after, bound, [self = shared_from_this(), until](std::optional<engine::Stop> stop) {
          if (stop) return self->stopped(*stop);
          // Waits end early if the program stops, or the task was removed.
          const bool goes_on = base::SteadyTime::now() >= until;
          goes_on ? self->look() : answer_with(self->call, self->run.key, std::nullopt);
        });
  }

  // Asks a legacy client, and waits for the stop that follows its answer.
  void ask(task::EventNumber asked) {
    a2a::read_task(call, {run.key, {}, {0, true}, asked},
                   [self = shared_from_this(), asked](const base::Result<task::Task>& task) {
                     if (!task) return self->call->refuse(task.error());
                     self->ask(*task, asked);
                   });
  }
  void ask(const task::Task& task, task::EventNumber asked) {
    const Question question = question_of(call, run.key, task);
    const bool is_open = !question.ask.empty();
    if (is_open && !protocol::mcp::can_ask(question, call->request.client)) return call->reply_tool(task);
    run.after = asked;
    // The call may continue for days; its share must not.
    AnswerBudget::SharePtr part = std::move(call->share);
    if (is_open) {
      std::string body;
      Writer out(body);
      out.object([&] {
        out.member("jsonrpc", "2.0").member("id", protocol::mcp::make_asking_id({task.id, question.ask}));
        protocol::mcp::write_elicitation(out, question);
      });
      call->add(std::move(body), event_id(), std::move(part));
    }
    look();
  }

  // Sends the progress that the agent has reported since the last time. The call still waits for the same
  // stop afterwards. A client that resumes the stream does not get this progress twice.
  void tell_statuses() {
    for (int page = 0; page < kPagesMax; ++page) {
      const auto events = call->services.engine.reader().events(run.key, run.after, kPage);
      if (!events || events->empty()) return;
      for (const task::Event& event : *events) {
        const task::StatusChanged* status = task::status_in(event);
        if (status != nullptr && task::is_stopped(status->status.state)) return;
        run.after = event.number;
        if (status != nullptr && status->status.state == task::State::working) tell_status(*status);
      }
    }
  }

  void tell_status(const task::StatusChanged& status) {
    const auto metadata = json::Document::view_of(status.metadata.text);
    const double fraction = std::min(metadata.root()["progress"].real().value_or(-1), kFractionMax);
    std::string words = status.status.message ? task::text_of(*status.status.message) : std::string();
    if (words.empty() && fraction < 0) return;
    tell(fraction, base::shortened(base::one_line(words), kWordsMax));
  }

  // A sign of life if there was no progress for a while.
  void tell_life() {
    if (progress.is_told && base::SteadyTime::now() - progress.at < kLook) return;
    tell(-1, "task " + run.id.value + " is working");
  }

  void tell(double fraction, const std::string& words) {
    constexpr double kWhole = 100;
    if (call->is_behind()) return;
    progress.at = base::SteadyTime::now();
    const double number = progress.next(fraction);
    std::string body;
    Writer out(body);
    out.object([&] {
      out.member("jsonrpc", "2.0").member("method", "notifications/progress");
      out.key("params").object([&] {
        out.key("progressToken").raw(call->request.progress_token);
        out.key("progress").real(number);
        if (fraction >= 0 && number <= kWhole) out.key("total").real(kWhole);
        out.optional("message", words);
      });
    });
    call->add(std::move(body), event_id());
  }

  std::string event_id() const {
    if (call->request.is_modern) return {};
    return protocol::mcp::make_event_id({run.id, run.after, static_cast<std::int64_t>(progress.number),
                                         call->request.id, call->request.progress_token});
  }

  const McpCallPtr call;
  Run run;
  Progress progress;
};

// Opens the stream of a call that has a place for it. `stop`: the stop that the call waits for, if it has
// come.
void follow(const McpCallPtr& call, Run run, std::int64_t number, std::optional<engine::Stop> stop) {
  const auto following = std::make_shared<Following>(call, std::move(run), number);
  call->open([following, stop] { stop ? following->stopped(*stop) : following->look(); });
}

// ---- The wait of a call.

bool takes_wait(const McpCallPtr& call) {
  if (!call->hold) call->hold = call->services.options.replies.acquire(call->identity);
  if (call->hold) return true;
  call->refuse({ErrorCode::overloaded, "this caller waits for as many calls as it may; try again later", {}});
  return false;
}

// Waits as the client can: for a while, then by a handle or in a stream.
void await(const McpCallPtr& call, const Run& run) {
  const bool gives_handle = call->request.client.tasks;
  const bool streams = !gives_handle && call->takes_stream();
  // Only a stream can have progress and questions.
  const bool shows_stop = streams && (is_asked_in_stream(*call) || !call->request.progress_token.empty());
  const milliseconds bound = gives_handle ? call->services.options.mcp_handle_after
                             : streams    ? kPlainWait
                                          : call->services.engine.options().reply_wait;
  const auto until = base::SteadyTime::now() + bound;
  call->services.engine.reader().await_stop(
      run.key, run.after, bound,
      [call, run, gives_handle, streams, shows_stop, until](std::optional<engine::Stop> stop) {
        if (gives_handle && (!stop || task::is_waiting(stop->state)))
          return answer_with_handle(call, run.key);
        const bool is_stopping = !stop && base::SteadyTime::now() < until;
        const bool opens = stop ? shows_stop : streams && !is_stopping;
        if (!opens) return answer_with(call, run.key, stop ? std::optional(stop->number) : std::nullopt);
        auto place = call->services.options.streams.acquire(call->identity);
        // Without a place for a stream the answer is what the task says now.
        if (!place) return answer_with(call, run.key, std::nullopt);
        call->hold = std::move(place);
        call->later([call, run, stop] { follow(call, run, 0, stop); });
      });
}

// Waits for what the task does now.
void await_task(const McpCallPtr& call, const task::TaskId& task) {
  const auto head = call->services.engine.reader().head(call->ref(task));
  if (!head) return call->refuse(head.error());
  if (!takes_wait(call)) return;
  const bool has_stopped = task::is_stopped(head->state);
  await(call, {head->key, head->id, {has_stopped ? head->status_event.value - 1 : head->last_event.value}});
}

// The model that made the call can mend this error.
bool is_for_model(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::too_large:
    case ErrorCode::conflict:
    case ErrorCode::unsupported:
    case ErrorCode::task_not_found:
    case ErrorCode::not_found:
      return true;
    default:
      return false;
  }
}

// `asks`: as of write_tool_error.
void reply_error(const McpCallPtr& call, const std::string& text, const task::TaskId& asks = {}) {
  call->reply(result(call->request, "complete",
                     [&](Writer& out) { protocol::mcp::write_tool_error(out, text, asks); }));
}

// Lets the client of a session cancel the call.
void note_running(const McpCallPtr& call, const task::TaskId& id) {
  if (!call->may_be_canceled) return;
  call->running = call->may_be_canceled([&services = call->services, task = call->ref(id)] {
    services.engine.cancels().begin(task, [](const base::Result<task::TaskHead>&) {});
  });
}

// What happens if the client of a modern call leaves before the answer: the revision demands a cancel.
std::function<void()> leaving(const McpCall& call, const engine::Accepted& accepted) {
  return [&services = call.services, key = accepted.key, agent = call.agent.name, before = accepted.before] {
    services.engine.tasks().client_left(key, agent, before, kLeaveGrace);
  };
}

void send_and_wait(const McpCallPtr& call, protocol::a2a::SendRequest send) {
  if (!takes_wait(call)) return;
  // Only a stream can be closed before the answer.
  const bool ends_with_stream =
      call->request.is_modern && !call->request.client.tasks && call->takes_stream();
  send.submission.leaving = ends_with_stream ? task::Leaving::cancels : task::Leaving::goes_on;
  // The model that called has not seen this task: the client itself gives the answer to a question.
  const task::TaskId asks = send.submission.ask.empty() ? task::TaskId() : send.submission.task;
  submit(call, std::move(send),
         [call, ends_with_stream, asks](const base::Result<engine::Accepted>& accepted) {
           if (accepted) {
             note_running(call, accepted->id);
             if (ends_with_stream) call->lost = leaving(*call, *accepted);
             return await(call, {accepted->key, accepted->id, accepted->before});
           }
           if (!is_for_model(accepted.error())) return call->refuse(accepted.error());
           const ErrorCode code = accepted.error().code;
           const bool is_lost = code == ErrorCode::task_not_found || code == ErrorCode::not_found;
           if (is_lost) return reply_error(call, "taskId: there is no such task");
           reply_error(call, accepted.error().for_caller,
                       code == ErrorCode::invalid_argument ? asks : task::TaskId());
         });
}

// The same call again, with the answer to the question that was its result.
void call_again(const McpCallPtr& call, Value params) {
  const auto state = protocol::mcp::read_request_state(params["requestState"].string());
  if (!state)
    return call->fail({protocol::mcp::kInvalidParams, "requestState: is not one that this server gave"});
  auto send = answer_to(call, state->task, state->ask, [&](const Question& question) {
    return protocol::mcp::read_input_response(params["inputResponses"], question);
  });
  if (send) return send_and_wait(call, std::move(*send));
  if (send.error().code != ErrorCode::conflict) return call->refuse(send.error());
  // The question was answered already, or is not: what the task says now is the answer.
  await_task(call, state->task);
}

// The arguments as the agent gets them. A tool with a schema of its own passes them on whole; its tasks, too,
// are answered by a call with a taskId.
base::Result<protocol::mcp::Arguments> read_input(const agents::ToolInput& input, Value arguments) {
  if (!input.schema) return protocol::mcp::read_arguments(arguments);
  const auto none = json::Document::view_of("{}");
  const bool has_none = arguments.absent() || protocol::mcp::is_empty_list(arguments);
  const Value given = has_none ? none.root() : arguments;
  const auto whole = [](task::Json data) {
    protocol::mcp::Arguments read;
    read.message.parts.push_back(task::Part::of_data(std::move(data)));
    return read;
  };
  const auto problem = input.schema->check(given);
  if (!problem) return whole(given.json());
  if (given.is_object()) {
    std::string mended = protocol::mcp::unquoted(given);
    if (!input.schema->check_text(mended)) return whole({std::move(mended)});
  }
  if (given["taskId"].is_string()) return protocol::mcp::read_arguments(arguments);
  return base::fail(ErrorCode::invalid_argument, "arguments" + problem->pointer + ": " + problem->reason);
}

// The agent learns which of its skills was called from the message's metadata.
base::Result<protocol::mcp::Arguments> arguments_for(const Tool& tool, Value arguments) {
  auto read = read_input(tool.input(), arguments);
  if (!read || tool.skill == nullptr) return read;
  Writer out(read->message.metadata.text);
  out.object([&] { out.member("skill", tool.skill->id); });
  return read;
}

}  // namespace

Question question_of(const task::TaskHead& head, const task::Task& task) {
  const bool is_open =
      task::is_waiting(task.status.state) && task::is_waiting(head.state) && head.status_at == task.status.at;
  return {task.status, is_open ? head.ask : std::string()};
}

Question question_of(const McpCallPtr& call, task::TaskKey key, const task::Task& task) {
  if (!task::is_waiting(task.status.state)) return {task.status, {}};
  const auto head = call->services.engine.reader().head(key);
  return head ? question_of(*head, task) : Question{task.status, {}};
}

base::Result<protocol::a2a::SendRequest> answer_to(const McpCallPtr& call, const task::TaskId& id,
                                                   const std::string& ask, const ReadAnswer& read) {
  const auto head = call->services.engine.reader().head(call->ref(id));
  if (!head) return base::fail(head.error());
  const auto task = call->services.engine.reader().read(head->key, {0, false}, head->last_event);
  if (!task) return base::fail(task.error());
  const Question question = question_of(*head, *task);
  if (question.ask.empty() || (!ask.empty() && ask != question.ask))
    return base::fail(ErrorCode::conflict, "the question is no longer open");
  auto message = read(question);
  if (!message) return base::fail(message.error());
  if (!*message) return base::fail(ErrorCode::conflict, "the question is not answered");
  protocol::a2a::SendRequest send;
  send.submission.task = head->id;
  send.submission.ask = question.ask;
  send.submission.message = std::move(**message);
  return send;
}

void submit(const McpCallPtr& call, protocol::a2a::SendRequest send, engine::TaskService::Submitted done) {
  if (const auto good = a2a::complete_send(*call, send); !good) return call->refuse(good.error());
  if (send.submission.message.id.empty()) send.submission.message.id.value = base::make_uuid();
  send.submission.origin = task::ProtocolVersion::none;
  send.submission.waits_for = task::WaitsFor::outcome;
  call->services.engine.tasks().submit(std::move(send.submission), std::move(done));
}

void call_tool(const McpCallPtr& call, const Tool& tool, Value params) {
  if (call->request.is_modern && !params["requestState"].absent()) return call_again(call, params);
  auto arguments = arguments_for(tool, params["arguments"]);
  if (!arguments) return reply_error(call, arguments.error().for_caller);
  if (arguments->message.parts.empty()) {
    if (!call->scopes.has(Scope::read)) return call->refuse(lacks(Scope::read));
    const auto head = call->services.engine.reader().head(call->ref(arguments->task));
    if (!head && is_for_model(head.error())) return reply_error(call, "taskId: there is no such task");
    return await_task(call, arguments->task);
  }
  protocol::a2a::SendRequest send;
  send.submission.message = std::move(arguments->message);
  send.submission.context = std::move(arguments->context);
  send.submission.task = std::move(arguments->task);
  send_and_wait(call, std::move(send));
}

void resume_call(const McpCallPtr& call, const protocol::mcp::StreamPlace& place) {
  const auto head = call->services.engine.reader().head(call->ref(place.task));
  if (!head || place.after > head->last_event) return call->refuse_plainly(404, "there is no such stream");
  call->hold = call->services.options.streams.acquire(call->identity);
  if (!call->hold)
    return call->refuse_plainly(429, "too many of this caller's streams are open; try again later");
  note_running(call, head->id);
  call->later([call, run = Run{head->key, head->id, place.after}, number = place.number + 1] {
    follow(call, run, number, {});
  });
}

}  // namespace baton::server::mcp
