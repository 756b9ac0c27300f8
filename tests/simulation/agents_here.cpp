#include "agents_here.h"

#include <deque>
#include <map>
#include <utility>

#include "world.h"

namespace baton::simulation {
namespace {

using agents::AgentSettings;
using std::chrono::milliseconds;

constexpr milliseconds kTurnTimeout{20'000};

// A turn under way.
struct Live {
  Live(World& all, agents::Turn the_turn, std::shared_ptr<agents::TurnSink> the_sink)
      : world(all), turn(std::move(the_turn)), sink(std::move(the_sink)) {}

  World& world;
  const agents::Turn turn;
  const std::shared_ptr<agents::TurnSink> sink;
  bool told = false;     // cancel() was called
  bool dropped = false;  // its Execution was destroyed: nobody listens any more
  bool finished = false;
  int said = 0, delivered = 0;
  Fibers::WaitList news;

  std::string next_piece() { return piece(turn.id, turn.attempt, ++said); }

  // Sleeps. Returns false if the turn was canceled or dropped.
  bool nap(Time time) {
    const Time until = world.fibers.now() + time;
    while (!told && !dropped && world.fibers.now() < until) world.fibers.wait(news, until);
    return !told && !dropped;
  }
};

class Running final : public agents::Execution {
 public:
  explicit Running(std::shared_ptr<Live> live) : live_(std::move(live)) {}
  ~Running() override {
    live_->dropped = true;
    fibers().wake_all(live_->news);
  }
  void cancel() override {
    live_->told = true;
    fibers().wake_all(live_->news);
  }
  void deliver(agents::DelegateResult result) override {
    ++live_->delivered;
    if (result.task && result.task->status.state == task::State::completed) SOMETIMES(child_finished);
    fibers().wake_all(live_->news);
  }

 private:
  const std::shared_ptr<Live> live_;
};

task::Message message_of(const std::string& text) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_text(text));
  return message;
}

class Agent final : public agents::Executor {
 public:
  Agent(World& world, bool delegates) : world_(world), delegates_(delegates) {}

  std::unique_ptr<agents::Execution> start(agents::Turn turn,
                                           std::shared_ptr<agents::TurnSink> sink) override {
    auto live = std::make_shared<Live>(world_, std::move(turn), std::move(sink));
    const Live* other = std::exchange(running_[live->turn.task.value], live).get();
    if (other != nullptr && !other->finished && !other->told && !other->dropped) {
      world_.fibers.fail("two turns of one task run at once: " + live->turn.id);
    }
    if (live->turn.attempt > 1) SOMETIMES(attempt_after_restart);
    check_results(live->turn);
    world_.fibers.spawn([this, live] { act(*live); });
    return std::make_unique<Running>(live);
  }

 private:
  Random& random() { return world_.random; }
  milliseconds a_while() {
    return milliseconds(random().chance(700) ? random().below(5) : random().below(800));
  }

  void act(Live& live) {
    work(live);
    if (live.told && !live.dropped) obey(live);
    if (!live.dropped && !live.told && !live.finished) end(live);
    if (live.dropped && world_.features.speaks_late && random().chance(500)) speak_late(live);
    running_.erase(live.turn.task.value);
  }

  // Checks that the turn began with the result of each child that has stopped, as the log of the task says.
  void check_results(const agents::Turn& turn) const {
    const task::TaskKey key = world_.model.key_of(turn.task.value);
    const task::TaskHead& head = world_.model.task(key).head();
    const std::string id = "t" + std::to_string(key.value) + "-" + std::to_string(head.turn.value) + "-";
    const bool is_current = head.turn_state == task::TurnState::running && head.attempt == turn.attempt &&
                            turn.id.starts_with(id);
    if (!is_current) return;
    std::map<std::string, const agents::DelegateResult*> results;
    for (const agents::DelegateResult& one : turn.results) results[one.id] = &one;
    for (const auto& [call, child] : world_.model.delegated(key)) {
      const auto found = results.find(call);
      if (found == results.end() && world_.model.is_awaited(key, call)) continue;
      const bool is_told = found != results.end() && found->second->task.has_value() == bool(child);
      if (!is_told)
        world_.fibers.fail("turn " + turn.id + " began without the result of " + call +
                           told(world_.model.task(key)));
      const auto& task = found->second->task;
      if (task && (task->id != world_.model.task(child).head().id || !task::is_stopped(task->status.state))) {
        world_.fibers.fail("turn " + turn.id + " began with a wrong result of " + call);
      }
    }
  }

  void work(Live& live) {
    const Features& features = world_.features;
    for (std::int64_t left = random().between(0, 5); left > 0; --left) {
      if (random().chance(700) && !live.nap(a_while())) return;
      const std::int64_t what = random().below(10);
      if (what == 0) {
        live.sink->reasoning(live.next_piece());
      } else if (what == 1) {
        emit_artifact(live);
      } else if (what == 2) {
        live.sink->hold();
        live.sink->text(live.next_piece());
        live.sink->text(live.next_piece());
        live.sink->release();
      } else if (what == 3 && delegates_ && features.delegates && !world_.calm()) {
        delegate(live);
      } else if (what == 4 && delegates_ && features.waits && !world_.calm()) {
        return delegate_and_wait(live);
      } else {
        live.sink->text(live.next_piece());
      }
    }
    if (features.hangs && !world_.calm() && random().chance(60)) {
      live.nap(2 * kTurnTimeout);
      if (live.dropped && !live.told) SOMETIMES(turn_timed_out);
    }
  }

  void emit_artifact(Live& live) {
    task::ArtifactChunk chunk;
    chunk.artifact.id.value =
        live.turn.id + "-" + std::to_string(live.turn.attempt) + "-a" + std::to_string(live.said);
    chunk.artifact.parts.push_back(task::Part::of_text(live.next_piece()));
    chunk.last_chunk = true;
    live.sink->emit(chunk);
  }

  void delegate(Live& live) {
    const int before = live.delivered;
    live.sink->delegate({"d" + std::to_string(live.said),
                         "child",
                         message_of("do this"),
                         {},
                         takes_questions(),
                         random().chance(100)});
    const Time until = world_.fibers.now() + 2 * kTurnTimeout;
    while (live.delivered == before && !live.told && !live.dropped && world_.fibers.now() < until) {
      world_.fibers.wait(live.news, until);
    }
  }

  bool takes_questions() { return random().chance(300); }

  // Delegates, then ends the turn: it waits for the next turn, or is broken off and runs again.
  void delegate_and_wait(Live& live) {
    for (std::int64_t number = random().between(1, 3); number > 0; --number) {
      const bool is_there = !random().chance(50);
      live.sink->delegate({live.turn.id + "-w" + std::to_string(number),
                           is_there ? "child" : "nobody",
                           message_of("do this"),
                           {},
                           takes_questions()});
    }
    if (random().chance(500) && !live.nap(a_while())) return;
    if (random().chance(300)) live.sink->text(live.next_piece());
    const bool breaks_off = world_.features.breaks_off && random().chance(200);
    finish(live, breaks_off ? agents::Outcome(agents::BrokenOff{}) : agents::Outcome(some_wait(true)));
  }

  agents::Waits some_wait(bool has_children) {
    agents::Waits waits;
    if (random().chance(500)) waits.open_max = static_cast<int>(random().between(-1, 2));
    waits.on_failure = random().chance(300);
    if (!has_children || random().chance(300)) {
      waits.until = world_.clock.now() + milliseconds(random().between(-10, 3'000));
    }
    return waits;
  }

  void obey(Live& live) {
    const std::int64_t how = random().below(10);
    if (world_.features.ignores_cancel && how < 3) {
      while (!live.dropped) world_.fibers.wait(live.news);
      SOMETIMES(cancel_forced);
      return;
    }
    finish(live, how == 9 ? agents::Outcome(agents::Done{}) : agents::Outcome(agents::Canceled{}));
  }

  void end(Live& live) {
    const Features& features = world_.features;
    const std::int64_t how = random().below(100);
    const bool calm = world_.calm();
    if (how < 8) return finish(live, agents::Failed{"it broke"});
    if (how < 11) return finish(live, agents::Rejected{"not this"});
    if (how < 14 && features.waits && !calm) return finish(live, some_wait(false));
    if (how < 17 && features.breaks_off && !calm) return finish(live, agents::BrokenOff{});
    if (how < 43 && features.asks && !calm) {
      return finish(live, agents::Asked{live.turn.id + "-ask", how < 18, message_of("which one?")});
    }
    finish(live, agents::Done{how < 60 ? std::optional(message_of("done")) : std::nullopt});
  }

  void finish(Live& live, agents::Outcome outcome) {
    live.finished = true;
    live.sink->finish(std::move(outcome));
    // A worker's pipe may also have more to read after the end.
    if (world_.features.speaks_late && random().chance(300)) speak_late(live);
  }

  // Sends output after the turn's end. The engine must drop it.
  void speak_late(Live& live) {
    for (int times = 0; times < 3; ++times) {
      world_.fibers.sleep(a_while());
      live.sink->text(live.next_piece());
      SOMETIMES(spoke_after_its_end);
    }
    live.sink->finish(agents::Done{message_of("finished twice")});
    SOMETIMES(finished_after_its_end);
  }

  World& world_;
  const bool delegates_;
  std::map<std::string, std::shared_ptr<Live>> running_;  // by task
};

}  // namespace

std::vector<agents::Agent> make_agents(World& world) {
  std::vector<agents::Agent> agents;
  const auto add = [&](const char* name, bool delegates) -> AgentSettings& {
    agents::Agent agent;
    agent.name.value = name;
    agent.settings.turn_timeout = kTurnTimeout;
    agent.settings.cancel_grace = milliseconds(500);
    agent.settings.concurrency = world.features.concurrency;
    agent.executor = std::make_unique<Agent>(world, delegates);
    agents.push_back(std::move(agent));
    return agents.back().settings;
  };
  add("plain", true);
  add("careful", true).recovery = AgentSettings::Recovery::fail;
  add("brief", false).reply_as = AgentSettings::ReplyAs::message;
  add("child", false);
  return agents;
}

}  // namespace baton::simulation
