#include "server/chat/conversation_events.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/id.h"
#include "protocol/agui/read_input.h"
#include "server/chat/call.h"
#include "server/chat/conversation_stream.h"
#include "server/shared/answers.h"

namespace baton::server::chat {
namespace {

using base::ErrorCode;
using protocol::chat::RunFacts;

// A client that has missed more runs gets the conversation anew.
constexpr std::size_t kMissedMax = 200;
// Answers from less than this do not count in the budget of large answers.
constexpr std::size_t kSmallStart = 1 << 20;

struct Following : PlainCall {
  Following(std::shared_ptr<http::Exchange> way_back, const Admitted& by, task::ContextId id)
      : PlainCall(std::move(way_back), by), context{caller, agent.name, std::move(id)} {
    const http::Request& request = exchange->request();
    for (const auto& [name, value] : request.query) {
      if (name == "protocolVersion") newer = protocol::agui::is_newer(value);
    }
  }

  const task::ContextRef context;
  bool newer = false;

  const engine::TaskReader& reader() const { return services.engine.reader(); }
};
using FollowingPtr = std::shared_ptr<Following>;  // held by pending callbacks

RunFacts facts_of(const Following& call) {
  RunFacts facts;
  facts.conversation = call.context.id;
  facts.newer = call.newer;
  facts.old_reasoning = call.services.options.chat.old_reasoning;
  facts.model = call.agent.name.value;
  facts.shows_user = true;
  return facts;
}

void open(const FollowingPtr& call, ConversationStream::Start start) {
  start.context = call->context;
  start.share = std::move(call->share);
  start.view = [facts = facts_of(*call)](const RunName& run, std::vector<task::Message> asked) {
    RunFacts of_run = facts;
    of_run.task = run.task;
    // As a run is named whose client has given it no name.
    of_run.run = run.task.value + "-run-" + std::to_string(run.before.value);
    of_run.before = run.before;
    of_run.asked = std::move(asked);
    return protocol::chat::agui_protocol().view(of_run);
  };
  // The opener is copied; the start is opened once.
  const auto kept = std::make_shared<ConversationStream::Start>(std::move(start));
  call->exchange->open_stream(
      {}, call->services.options.streams.kept(
              std::move(call->hold), [&services = call->services, kept](http::Waker waker) {
                return std::make_unique<ConversationStream>(services, std::move(*kept), std::move(waker));
              }));
}

void begin_with(const FollowingPtr& call, const ConversationHeads& heads) {
  auto begun = start_of(call->reader(), heads);
  if (!begun) return call->refuse(begun.error());
  ConversationStream::Start start;
  start.place = std::move(begun->place);
  RunFacts facts = facts_of(*call);
  facts.run = base::make_uuid();
  protocol::chat::Frames frames;
  protocol::chat::agui_protocol().show_conversation(facts, &begun->messages, begun->open, frames);
  // A client that has not got all of it begins anew.
  for (auto& frame : frames.all()) {
    const bool is_last = &frame == &frames.all().back();
    append_frame(start.first_block, frame, is_last ? start.place.prefix() + ":0" : std::string());
  }
  if (call->share) call->share->shrink(start.first_block.capacity());
  open(call, std::move(start));
}

void begin(const FollowingPtr& call) {
  auto heads = heads_of(call->reader(), call->context);
  if (!heads) return call->refuse(heads.error());
  if (heads->bytes <= kSmallStart) return begin_with(call, *heads);
  const std::size_t bytes = 2 * heads->bytes;
  take_share(call, std::string(task::account_of(call->caller)), bytes,
             [call, heads = std::move(*heads)](bool has_room) {
               if (has_room) return begin_with(call, heads);
               call->refuse(too_many_large_answers());
             });
}

// The stream after the place, if the store still has what it names and not too much has happened since.
base::Result<std::optional<ConversationStream::Start>> resumed(const Following& call,
                                                               ConversationPlace::Read place) {
  const engine::TaskReader& reader = call.reader();
  ConversationStream::Start start;
  start.place = std::move(place.place);
  const auto missed = runs_since(reader, call.context, start.place.floor(), kMissedMax);
  if (!missed) return base::fail(missed.error());
  if (!*missed) return std::nullopt;
  if (!place.run) return start;
  const auto head = reader.head(task::TaskRef{call.caller, call.agent.name, place.run->task});
  if (!head && head.error().code == ErrorCode::task_not_found) return std::nullopt;
  if (!head) return base::fail(head.error());
  const RunPosition& shown = place.run->position;
  if (head->parent || head->context != call.context.id || shown.event > head->last_event) return std::nullopt;
  const auto before = reader.stop_before(head->key, shown.event);
  if (!before) return base::fail(before.error());
  auto run = run_after(reader, *head, *before);
  if (!run) return base::fail(run.error());
  if (!*run) return std::nullopt;
  const auto stop = reader.stop_after(head->key, *before);
  if (!stop) return base::fail(stop.error());
  if (*stop && (*stop)->number == shown.event && shown.frames == 0) {
    start.place.add((*run)->name, (*run)->began);
    return start;
  }
  auto asked = asked_by(reader, **run);
  if (!asked) return base::fail(asked.error());
  start.run = ConversationStream::Next{std::move(**run), std::move(*asked)};
  start.shown = shown;
  return start;
}

}  // namespace

void handle_conversation_events(std::shared_ptr<http::Exchange> exchange, const Admitted& by,
                                task::ContextId id) {
  const auto call = std::make_shared<Following>(std::move(exchange), by, std::move(id));
  call->hold = by.services.options.streams.acquire(call->caller);
  if (!call->hold) {
    return call->refuse(too_many_open_runs());
  }
  const auto shown = call->services.engine.conversations().find(call->context);
  if (!shown) return call->refuse(shown.error());
  const std::string_view last = call->exchange->request().header("Last-Event-ID");
  if (last.empty()) return begin(call);
  auto place = ConversationPlace::read(last);
  if (!place) {
    return call->refuse({ErrorCode::invalid_argument,
                         "Last-Event-ID: must be the id of one of the conversation's events",
                         {}});
  }
  auto start = resumed(*call, std::move(*place));
  if (!start) return call->refuse(start.error());
  if (!*start) return begin(call);
  open(call, std::move(**start));
}

}  // namespace baton::server::chat
