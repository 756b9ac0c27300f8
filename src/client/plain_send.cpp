#include "client/plain_send.h"

#include <algorithm>
#include <optional>

#include "wire/json/document.h"

namespace baton::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryFirst{100}, kRetryMax{5'000};

void take_answer(const FollowPlan& plan, const FollowWorld& world, const task::Json& result, FollowEnd& end) {
  const auto document = wire::Document::parse_view(result.text);
  const auto update = document ? plan.dialect->read_update(document->root()) : base::fail(document.error());
  if (!update) {
    end.error = CallError{"the server's answer makes no sense: " + update.error().for_caller, 0, false};
    return;
  }
  end.error.reset();
  world.on_event(result.text, *update);
  end.state = task::State::completed;
  if (const auto* task = std::get_if<task::Task>(&*update)) {
    end.state = task->status.state;
    end.task = task->id;
  }
  // A task of 0.1 with little in it looks like an event.
  if (const auto* status = std::get_if<wire::a2a::StatusUpdate>(&*update)) end.state = status->status.state;
}

}  // namespace

FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world) {
  FollowEnd end;
  end.task = plan.task;
  std::optional<std::chrono::steady_clock::time_point> silent_since;
  for (milliseconds delay = kRetryFirst;; delay = std::min(delay * 2, kRetryMax)) {
    const auto result = world.send(*plan.first_request);
    end.stopped = world.wait(milliseconds(0));
    if (end.stopped) return end;
    if (result) {
      take_answer(plan, world, *result, end);
      return end;
    }
    if (!silent_since) silent_since = world.now();
    end.error = result.error();
    const bool patient = world.now() - *silent_since + delay < plan.give_up_after;
    if (!result.error().lost || plan.dialect->names_tasks() || !patient) return end;
    if (world.on_trouble && delay == kRetryFirst) world.on_trouble(result.error().text);
    end.stopped = world.wait(delay);
    if (end.stopped) return end;
  }
}

}  // namespace baton::client
