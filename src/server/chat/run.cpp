#include "server/chat/run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "base/id.h"
#include "base/sha256.h"
#include "base/text.h"
#include "server/admission/access.h"
#include "server/chat/conversation.h"
#include "server/chat/run_stream.h"
#include "server/shared/answers.h"

namespace baton::server::chat {
namespace {

using base::ErrorCode;
using base::fail;
using protocol::chat::RunRequest;

constexpr int kPage = 128;
constexpr std::size_t kSmallLog = 1 << 20;  // up to this size, an answer is not large

// RunAnswer: answers one chat request with a run, streamed or as a whole.
//
// Threads: used by one thread at a time, the one that answers next; `accepted` may be called on the store's
// flushing thread.
struct RunAnswer : std::enable_shared_from_this<RunAnswer> {
  RunAnswer(CallPtr request_call, const protocol::chat::Protocol& speaks, protocol::chat::RunRequest read)
      : call(std::move(request_call)), protocol(speaks), request(std::move(read)) {}

  const CallPtr call;
  const protocol::chat::Protocol& protocol;
  protocol::chat::RunRequest request;
  task::ContextId conversation;
  std::string name;  // the idempotency key of the request; empty: none
  // Held until later requests, here and on other nodes, can see the run, and that it is followed.
  RunClaims::Claim claim;
  store::Peers::Claim shared_claim;

  // Answers with the run that follows what was accepted.
  void accepted(const engine::Accepted& accepted) {
    const BegunRun begun{accepted.key, accepted.id, accepted.context, accepted.before};
    if (call->write_late_error != nullptr) call->write_error = call->write_late_error;
    if (request.streams) return show(begun, {}, false);
    if (!request.background) return reply_whole(begun);
    release_claims();
    reply_later(begun);
  }

  // Before the client gets anything: its next request may come before this object is destroyed.
  void release_claims() {
    claim.reset();
    shared_claim.reset();
  }

  // Answers with the run as it is, on a thread that may read the store.
  void reply_later(const BegunRun& begun) const {
    const bool taken = call->services.readers.try_submit([self = shared_from_this(), begun] {
      const auto head = self->call->services.engine.reader().head(begun.key);
      if (!head) return self->call->refuse(head.error());
      self->with_room(head->bytes, [self, begun] { self->reply_run(begun); });
    });
    if (!taken) call->refuse(too_many_waiting_answers());
  }

  // Streams the run, without the part that the client has already (`shown`).
  void show(const BegunRun& begun, std::optional<RunPosition> shown, bool nothing_follows,
            std::int64_t skipped = 0) {
    const auto open = [self = shared_from_this(), begun, shown, nothing_follows,
                       skipped](http::Waker waker) -> std::unique_ptr<http::StreamSource> {
      const Services& services = self->call->services;
      RunStream::Start start{begun.key, begun.task, begun.before, shown, nothing_follows, nullptr, {}};
      start.view = self->protocol.view(self->facts(begun.task, begun.context, begun.before));
      start.has_ids = self->protocol.has_frame_ids();
      start.last_words = self->protocol.last_words();
      start.skipped = skipped;
      start.left = [&services, key = begun.key, agent = self->call->agent.name, before = begun.before] {
        services.engine.tasks().client_left(key, agent, before);
      };
      auto stream = std::make_unique<RunStream>(services, std::move(start), std::move(waker));
      self->release_claims();
      return stream;
    };
    call->open_stream(open);
  }

  // For a request with nothing new: sends the conversation, if the client has none of it, and the open
  // questions.
  base::Result<void> show_conversation(const std::vector<WaitingTask>& waiting) const {
    const bool has_none = request.history && request.history->empty();
    if (!has_none) {
      show_messages(nullptr, waiting);
      return {};
    }
    auto said = said_in(call->reader(), {call->caller, call->agent.name, conversation});
    if (!said) return base::fail(said.error());
    const std::size_t bytes = said->bytes;
    with_room(bytes, [self = shared_from_this(), said = std::move(*said), waiting] {
      self->show_messages(&said, waiting);
    });
    return {};
  }

  // Refuses in the protocol's own form, if it has one.
  void refuse(const base::Error& error) const {
    protocol::chat::Frames frames;
    const bool in_stream = error.code == ErrorCode::conflict &&
                           protocol.show_refusal(facts({}, conversation, {}), error, frames);
    if (in_stream) return call->reply_stream(std::move(frames));
    call->refuse(error);
  }

  void refuse_answer(base::Error error) const {
    const bool is_misfit = error.code == ErrorCode::invalid_argument;
    if (is_misfit && protocol.misfit_is_conflict()) error.code = ErrorCode::conflict;
    refuse(error);
  }

 private:
  protocol::chat::RunFacts facts(const task::TaskId& task, const task::ContextId& context,
                                 task::EventNumber before) const {
    protocol::chat::RunFacts facts;
    facts.task = task;
    facts.conversation = context;
    facts.run = request.run;
    if (facts.run.empty() && protocol.names_runs()) {
      // Must be the same each time the run is shown.
      facts.run = (task.empty() ? base::make_uuid() : task.value) + "-run-" + std::to_string(before.value);
    }
    facts.parent_run = request.parent_run;
    facts.newer = request.newer;
    facts.old_reasoning = call->services.options.chat.old_reasoning;
    facts.confirm_tool = call->agent.settings.confirm_tool;
    if (!facts.confirm_tool.empty()) facts.tools = request.tools;
    facts.messages = request.messages;
    facts.before = before;
    facts.streams = request.streams;
    facts.model = call->agent.name.value;
    facts.files_url = request.files_url;
    return facts;
  }

  void reply_whole(const BegunRun& begun) {
    const engine::Engine& engine = call->services.engine;
    call->reader().await_stop(
        begun.key, begun.before, engine.options().reply_wait,
        [self = shared_from_this(), begun](std::optional<engine::Stop>) { self->reply_later(begun); });
    release_claims();  // the wait follows it
  }

  // The last frame of a run that has stopped is its whole answer.
  void reply_run(const BegunRun& begun) const {
    const auto view = protocol.view(facts(begun.task, begun.context, begun.before));
    protocol::chat::Frames frames;
    task::EventNumber position = begun.before;
    bool over = false;
    while (!over) {
      const auto events = call->reader().events(begun.key, position, kPage);
      if (!events) return call->refuse(events.error());
      if (events->empty()) break;
      for (const task::Event& event : *events) {
        const task::StatusChanged* status = task::status_in(event);
        over = status != nullptr && task::is_stopped(status->status.state);
        frames.clear();
        frames.skip_all(!over);
        std::optional<task::Event> changed;
        if (const task::Event* shown = task::without_repeated_reply(event, changed))
          view->show(*shown, frames);
        position = event.number;
        if (over) break;
      }
    }
    if (over && frames.empty()) return call->refuse({ErrorCode::internal, {}, "the run has no end"});
    if (over) return call->reply(frames.status, std::move(frames.all().back().data));
    std::string now;
    view->show_now(now);
    if (now.empty())
      return call->refuse({ErrorCode::unavailable, "the run is still active; try again later", {}});
    call->reply(200, std::move(now));
  }

  void show_messages(const Said* said, const std::vector<WaitingTask>& waiting) const {
    std::vector<protocol::chat::Question> open;
    for (const WaitingTask& one : waiting) open.insert(open.begin(), one.question);
    std::vector<task::Message> messages;
    if (said != nullptr) {
      auto found = messages_of(call->reader(), *said);
      if (!found) return refuse(found.error());
      messages = std::move(*found);
    }
    protocol::chat::Frames frames;
    protocol.show_conversation(facts({}, conversation, {}), said ? &messages : nullptr, open, frames);
    call->reply_stream(std::move(frames));
  }

  // Calls `ready` once the budget has room for an answer from this much log, or refuses the call.
  void with_room(std::size_t log_bytes, std::function<void()> ready) const {
    if (log_bytes <= kSmallLog) return ready();
    take_share(call, std::string(task::account_of(call->caller)), 2 * log_bytes,
               [self = shared_from_this(), ready = std::move(ready)](bool has_room) {
                 if (has_room) return ready();
                 self->refuse(too_many_large_answers());
               });
  }
};

using RunAnswerPtr = std::shared_ptr<RunAnswer>;  // held by pending callbacks

// The task named by a response id ("response_<task>", "response_<task>-<n>").
base::Result<task::TaskHead> task_of_response(const ChatCall& call, std::string_view response) {
  constexpr std::string_view kPrefix = "response_";
  if (response.starts_with(kPrefix)) response.remove_prefix(kPrefix.size());
  auto head = call.reader().head({call.caller, call.agent.name, {std::string(response)}});
  const std::size_t dash = response.rfind('-');
  if (head || dash == std::string_view::npos) return head;
  return call.reader().head({call.caller, call.agent.name, {std::string(response.substr(0, dash))}});
}

base::Result<task::ContextId> conversation_of(const ChatCall& call, const RunRequest& request) {
  if (!request.conversation.empty()) return request.conversation;
  if (request.after_response.empty()) return task::ContextId{base::make_uuid()};
  const auto head = task_of_response(call, request.after_response);
  if (!head) return fail(ErrorCode::not_found, "response_id: response not found");
  return head->context;
}

// Resumes the run in which Last-Event-ID is a position.
base::Result<void> resume_run(const RunAnswerPtr& answer, std::string_view last_event) {
  const ChatCall& call = *answer->call;
  const auto id = read_sse_id(last_event);
  if (!id)
    return fail(ErrorCode::invalid_argument, "Last-Event-ID: must be the id of one of the run's events");
  const auto head = call.reader().head({call.caller, call.agent.name, id->task});
  if (!head) return fail(head.error());
  const RunPosition& place = id->position;
  if (place.event > head->last_event) {
    return fail(ErrorCode::invalid_argument, "Last-Event-ID: event not found: the task's log ends earlier");
  }
  // If the whole event was shown and it is a stop, it belongs to the earlier run.
  const task::EventNumber within{place.event.value + (place.frames == 0 ? 1 : 0)};
  const auto before = call.reader().stop_before(head->key, within);
  if (!before) return fail(before.error());
  const bool waits_or_ended = task::is_stopped(head->state) && *before == head->status_event;
  answer->show({head->key, head->id, head->context, *before}, place, waits_or_ended);
  return {};
}

// A name made of texts that are added to `sha`.
std::string name_of_digest(std::string_view kind, base::Sha256& sha) {
  const auto [high, low] = sha.first_128_bits();
  return std::string(kind) + "\n" + std::to_string(high) + "\n" + std::to_string(low);
}

// The name of these answers, in any order.
std::string name_of(const std::vector<protocol::chat::Answer>& answers) {
  std::vector<const protocol::chat::Answer*> sorted;
  for (const protocol::chat::Answer& one : answers) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, &protocol::chat::Answer::ask);
  base::Sha256 sha;
  for (const protocol::chat::Answer* one : sorted) {
    sha.add(one->ask);
    sha.add(std::uint64_t{one->cancelled ? 1U : 0U});
    sha.add(one->payload.text);
  }
  return name_of_digest("answers", sha);
}

// The idempotency key of the request if it had no answers: the name of its run and its results. A client may
// give a result under the name of the run that called the tool (versions of CopilotKit do), so that name
// means two runs. Results alone are no key either: those of a server's tool come again with each new message
// until the agent speaks.
std::string key_without_answers(const RunRequest& request) {
  if (request.results.empty() || request.run.empty()) return request.run;
  base::Sha256 sha;
  sha.add(request.run);
  for (const protocol::chat::ClientResult& one : request.results) {
    sha.add(one.call);
    sha.add(one.content.text);
    sha.add(one.error);
  }
  return name_of_digest("results", sha);
}

// The idempotency key of the request. Answers are identified by their questions and content alone, because
// they, too, may come under the name of the run that asked.
std::string idempotency_key(const RunRequest& request) {
  return request.answers.empty() ? key_without_answers(request) : name_of(request.answers);
}

base::Result<engine::Accepted> run_named(const RunAnswer& answer, const std::string& name) {
  const ChatCall& call = *answer.call;
  if (name.empty()) return fail(ErrorCode::not_found, "the run has no id");
  return call.tasks().earlier(call.caller, call.agent.name, answer.conversation, name);
}

base::Result<engine::Accepted> earlier_run(const RunAnswer& answer) {
  return run_named(answer, answer.name);
}

// Answers with the earlier run if the request repeats one, by its key. Returns false if it repeats none.
bool answer_repetition(const RunAnswerPtr& answer) {
  const auto earlier = earlier_run(*answer);
  if (!earlier) return false;
  answer->accepted(*earlier);
  return true;
}

// Whether the client that started the task's run has disconnected.
base::Result<bool> is_abandoned(const ChatCall& call, const task::TaskHead& head) {
  const auto before = call.reader().stop_before(head.key, head.last_event);
  if (!before) return fail(before.error());
  const auto leaving = call.tasks().leaving(head.key, *before);
  if (!leaving) return fail(leaving.error());
  return *leaving != task::Leaving::goes_on && !call.tasks().is_followed(head.key);
}

// Makes room for a new run in a conversation that takes one at a time: cancels runs whose client has left.
base::Result<void> make_room(RunAnswer& answer) {
  const ChatCall& call = *answer.call;
  const base::Error busy{
      ErrorCode::conflict, "a run is already active in this conversation; wait for it or cancel it", {}};
  const std::string name =
      call.agent.name.value + '\0' + call.caller.value + '\0' + answer.conversation.value;
  answer.claim = call.claims.claim(name, answer.name);
  if (!answer.claim) return fail(busy);
  auto shared = call.tasks().claim_from_others({std::string(task::account_of(call.caller))}, name);
  if (!shared) return fail(shared.error());
  answer.shared_claim = std::move(*shared);
  if (!answer.shared_claim) return fail(busy);
  const auto running = running_tasks(call, answer.conversation);
  if (!running) return fail(running.error());
  for (const task::TaskHead& head : *running) {
    const auto abandoned = is_abandoned(call, head);
    if (!abandoned) return fail(abandoned.error());
    if (!*abandoned) return fail(busy);
    call.services.engine.cancels().cancel(head.key, [](const base::Result<task::TaskKey>&) {});
  }
  return {};
}

// Moves the history and the state into the last submission, because the answer may wait for minutes.
void fill_in(task::Submission& submission, RunAnswer& answer, bool last) {
  RunRequest& request = answer.request;
  submission.caller = answer.call->caller;
  submission.child_agents = answer.call->child_agents;
  submission.subject = answer.call->subject;
  submission.agent = answer.call->agent.name;
  submission.context = answer.conversation;
  submission.metadata = request.metadata;
  submission.hops = request.hops;
  submission.trace = trace_of(answer.call->exchange->request());
  if (answer.call->note) submission.trace = answer.call->note->trace_for(submission.trace);
  submission.tools = request.tools;
  if (last) {
    submission.state = std::move(request.state);
    submission.history = std::move(request.history);
  } else {
    submission.state = request.state;
    submission.history = request.history;
  }
  submission.origin = task::ProtocolVersion::none;
  submission.waits_for = task::WaitsFor::outcome;
  submission.leaving = answer.protocol.leaving_cancels() ? task::Leaving::cancels : task::Leaving::makes_way;
  if (request.background) submission.leaving = task::Leaving::goes_on;
  if (!request.about.empty()) submission.message.metadata = request.about;
  submission.when_context_differs = task::WhenContextDiffers::ignore;
}

// Submits one after the other; the answer shows the last, whose name identifies repetitions of the request.
void submit(const RunAnswerPtr& answer, std::shared_ptr<std::vector<task::Submission>> all,
            std::size_t next) {
  task::Submission submission = std::move((*all)[next]);
  const bool last = next + 1 == all->size();
  fill_in(submission, *answer, last);
  const auto& answers = answer->request.answers;
  if (last) submission.name = answer->name;
  if (!last && !answers.empty()) submission.name = name_of({answers[next]});
  const bool is_answer = !submission.task.empty();
  answer->call->tasks().submit(std::move(submission), [=](base::Result<engine::Accepted> accepted) {
    if (!accepted && is_answer) return answer->refuse_answer(accepted.error());
    if (!accepted) return answer->refuse(accepted.error());
    if (last) return answer->accepted(*accepted);
    const auto submit_next = [=] { submit(answer, all, next + 1); };
    if (!answer->call->services.readers.try_submit(submit_next)) {
      answer->refuse(too_many_waiting_answers());
    }
  });
}

// Several answers are submitted together or not at all. Fails unless each of them fits its question.
base::Result<void> check_answers(const RunAnswer& answer, const std::vector<task::Submission>& all) {
  if (all.size() < 2) return {};
  for (const task::Submission& one : all) {
    task::Submission asked_of = one;
    asked_of.caller = answer.call->caller;
    asked_of.agent = answer.call->agent.name;
    if (auto fits = answer.call->tasks().check_answer(asked_of); !fits) return fits;
  }
  return {};
}

// For a request with nothing new: shows the newest run in progress, or else the conversation and the open
// questions.
base::Result<void> show_current(const RunAnswerPtr& answer, const std::vector<WaitingTask>& waiting) {
  const ChatCall& call = *answer->call;
  const auto running = running_tasks(call, answer->conversation);
  if (!running) return fail(running.error());
  if (running->empty()) return answer->show_conversation(waiting);
  const task::TaskHead& head = running->front();
  const auto before = call.reader().stop_before(head.key, head.last_event);
  if (!before) return fail(before.error());
  answer->show({head.key, head.id, head.context, *before}, std::nullopt, false);
  return {};
}

// After an answer led to an error, a client may repeat it along with its next message (AG-UI 1.0 does). Drops
// the answers if the message is new, or began the run that the request repeats, and all of the questions were
// asked. Call once it is known that none of them is open.
base::Result<void> drop_old_answers(RunAnswer& answer) {
  RunRequest& request = answer.request;
  if (request.answers.empty() || request.message.parts.empty()) return {};
  const ChatCall& call = *answer.call;
  const auto known = ids_in(call.reader(), {call.caller, call.agent.name, answer.conversation});
  if (!known) return fail(known.error());
  const task::MessageId& id = request.message.id;
  const bool is_new = id.empty() || !known->messages.contains(id.value);
  std::string rest = key_without_answers(request);
  const auto named = run_named(answer, rest);
  const bool were_asked = std::ranges::all_of(request.answers, [&](const protocol::chat::Answer& one) {
    const auto asked = known->asks.find(one.ask);
    if (asked == known->asks.end()) return false;
    return is_new || (named && named->key != asked->second);  // a name may be that of the run that asked
  });
  if (!were_asked) return {};
  request.answers.clear();
  answer.name = std::move(rest);
  return {};
}

// Drops the answers that were given already while another question is open: alone, or by a request that was
// broken off between its answers. The client repeats them with the others.
void drop_given_answers(RunAnswer& answer, const std::vector<WaitingTask>& waiting) {
  std::erase_if(answer.request.answers, [&](const protocol::chat::Answer& one) {
    const auto asks_it = [&](const WaitingTask& open) { return open.head.ask == one.ask; };
    return std::ranges::none_of(waiting, asks_it) && run_named(answer, name_of({one}));
  });
}

// The open questions that the request may answer.
base::Result<std::vector<WaitingTask>> open_questions(const ChatCall& call, const task::ContextId& context,
                                                      const std::optional<task::TaskId>& only) {
  if (only && only->empty()) return std::vector<WaitingTask>();
  auto waiting = waiting_tasks(call, context);
  if (waiting && only) std::erase_if(*waiting, [&](const WaitingTask& one) { return one.head.id != *only; });
  return waiting;
}

base::Result<void> begin_run(const RunAnswerPtr& answer) {
  const ChatCall& call = *answer->call;
  auto conversation = conversation_of(call, answer->request);
  if (!conversation) return fail(conversation.error());
  answer->conversation = std::move(*conversation);
  answer->name = idempotency_key(answer->request);
  const std::string_view last = call.exchange->request().header("Last-Event-ID");
  if (!last.empty() && answer->protocol.has_frame_ids()) return resume_run(answer, last);
  // Repeated answers cannot match an open question: each of an agent's questions has its own id.
  if (!answer->request.answers.empty() && earlier_run(*answer)) {
    if (auto done = drop_old_answers(*answer); !done) return done;
  }
  if (answer_repetition(answer)) return {};
  auto waiting = open_questions(call, answer->conversation, answer->request.answers_only);
  if (!waiting) return fail(waiting.error());
  if (answers_what_is_open(answer->request, *waiting)) {
    drop_given_answers(*answer, *waiting);
  } else if (auto done = drop_old_answers(*answer); !done) {
    return done;
  }
  const bool in_words = answer->protocol.answers_in_words() || call.agent.settings.plain_answers;
  auto submissions = submissions_for(answer->request, *waiting, in_words);
  // The question may just have been answered by a repetition of this request.
  if (!submissions) return answer_repetition(answer) ? base::Result<void>() : fail(submissions.error());
  if (submissions->empty()) return show_current(answer, *waiting);
  // Nobody else knows a conversation that begins with this request.
  const bool is_fresh = answer->request.conversation.empty() && answer->request.after_response.empty();
  if (submissions->back().task.empty() && answer->protocol.one_run_at_a_time() && !is_fresh) {
    const auto room = make_room(*answer);
    // The run in progress may be this one, just started by a repetition.
    if (!room) return answer_repetition(answer) ? base::Result<void>() : room;
  }
  if (const auto fit = check_answers(*answer, *submissions); !fit) {
    answer->refuse_answer(fit.error());
    return {};
  }
  submit(answer, std::make_shared<std::vector<task::Submission>>(std::move(*submissions)), 0);
  return {};
}

}  // namespace

void run(const CallPtr& call, const protocol::chat::Protocol& protocol) {
  auto request = protocol.read(call->document.root());
  if (!request) return call->refuse(request.error());
  run(call, protocol, std::move(*request));
}

void show(const CallPtr& call, const protocol::chat::Protocol& protocol, RunRequest request,
          const BegunRun& begun, std::int64_t skipped) {
  const auto answer = std::make_shared<RunAnswer>(call, protocol, std::move(request));
  answer->show(begun, std::nullopt, false, skipped);
}

void reply(const CallPtr& call, const protocol::chat::Protocol& protocol, RunRequest request,
           const BegunRun& begun) {
  std::make_shared<RunAnswer>(call, protocol, std::move(request))->reply_later(begun);
}

void run(const CallPtr& call, const protocol::chat::Protocol& protocol, RunRequest request) {
  // Frees the parsed body: it takes many times its size, and the answer may wait for minutes.
  call->document = json::Document::view_of({});
  const int answers_max = call->services.options.chat.answers_max;
  if (request.answers.size() > static_cast<std::size_t>(answers_max)) {
    return call->refuse(
        {ErrorCode::too_large, "a request may have at most " + base::counted(answers_max, "answer"), {}});
  }
  const auto answer = std::make_shared<RunAnswer>(call, protocol, std::move(request));
  if (const auto begun = begin_run(answer); !begun) answer->refuse(begun.error());
}

}  // namespace baton::server::chat
