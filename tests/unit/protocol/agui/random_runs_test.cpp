// For any log clients must get a stream that their verifiers accept, and the same one each time.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "client_rules.h"
#include "run.h"

namespace agui_random_runs_test {

using namespace baton;
using task::EventBody;
using task::Part;
using task::State;
using test::log_of;
using test::message_of;
using test::status_of;

namespace {

// Makes random events with few names, so that names often collide, also in orders that no agent should
// produce.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool toss() { return below(2) == 0; }
  std::string name(const std::string& kind) { return kind + std::to_string(below(3)); }
  std::string words() { return toss() ? std::string() : "some \"words\"\n"; }

  EventBody event() {
    switch (below(16)) {
      case 0:
        return status_of(State::submitted);
      case 1:
        return note();
      case 2:
        return task::MessageAdded{message()};
      case 3:
        return task::ArtifactChunk{artifact(), toss(), toss()};
      case 4:
      case 5:
        return call();
      case 6:
      case 7:
        return task::ToolResult{name("call"), {"[1,\n2]"}, toss() ? "wrong" : ""};
      case 8:
        return task::Step{name("step"), toss() ? task::Step::Phase::start : task::Step::Phase::finish};
      case 9:
        return task::ReasoningDelta{{name("span")}, words(), toss(), toss()};
      case 10:
        return subagent();
      case 11:
        return activity();
      case 12:
        return other();
      case 13:
        return task::Usage{{R"({"model":"m","inputTokens":1,"outputTokens":-1,"totalTokens":0.5})"}};
      default:
        return task::TextDelta{{name("reply")}, 0, words(), toss(), toss()};
    }
  }

  task::StatusChanged stop() {
    constexpr std::array kStops{State::completed, State::canceled,       State::failed,
                                State::rejected,  State::input_required, State::auth_required};
    auto status = status_of(kStops[static_cast<std::size_t>(below(6))]);
    if (toss()) {
      status.status.message = message();
      status.status.message->role = task::Role::agent;
    }
    if (task::is_waiting(status.status.state)) status.ask = "ask" + std::to_string(below(3));
    return status;
  }

 private:
  // The ids of a task's messages are unique, which the store guarantees.
  task::Message message() {
    std::vector<Part> parts;
    if (toss()) parts.push_back(Part::of_text(words()));
    if (toss()) parts.push_back(Part::of_data({R"({"schema":{"type":"object"}})"}));
    if (toss()) parts.push_back(Part{Part::Kind::url, "https://example.org", {}, {}, {}});
    auto message = message_of("message" + std::to_string(++messages_), std::move(parts));
    if (toss()) message.role = task::Role::user;
    return message;
  }
  task::StatusChanged note() {
    auto note = status_of(State::working);
    if (toss()) note.status.message = message();
    if (toss()) note.metadata = {R"({"progress":0.5})"};
    return note;
  }
  task::Artifact artifact() {
    task::Artifact artifact;
    artifact.id = {name("artifact")};
    if (toss()) artifact.parts.push_back(Part::of_text(words()));
    if (toss()) artifact.parts.push_back(Part::of_data({"{}"}));
    return artifact;
  }
  task::ToolCall call() { return {name("call"), "tool", {toss() ? R"({"a": "b\n"})" : ""}, false}; }
  task::Subagent subagent() {
    using Phase = task::Subagent::Phase;
    constexpr std::array kPhases{Phase::started, Phase::finished, Phase::failed};
    return {name("task"), "helper", kPhases[static_cast<std::size_t>(below(3))], words()};
  }
  task::Activity activity() {
    if (toss()) return {name("activity"), "PLAN", {"{}"}, {}};
    return {name("activity"), "PLAN", {}, {R"([{"op":"remove","path":"/a"}])"}};
  }
  EventBody other() {
    switch (below(4)) {
      case 0:
        return task::Withdrawn{};
      case 1:
        return task::Custom{"name", {toss() ? "1" : ""}};
      case 2:
        return task::StateSnapshot{{"{}"}};
      default:
        return task::StateDelta{{R"([{"op":"add","path":"/a","value":null}])"}};
    }
  }

  std::mt19937 random_;
  int messages_ = 0;
};

std::vector<EventBody> random_run(unsigned seed) {
  Dice dice(seed);
  std::vector<EventBody> bodies;
  for (int n = dice.below(40); n > 0; --n) bodies.push_back(dice.event());
  if (dice.below(4) == 0) {
    task::ToolCall call{"client-call", "tool", {}, true};
    bodies.emplace_back(call);
    bodies.emplace_back(status_of(State::input_required,
                                  message_of("m", {Part::of_data({R"({"toolCall":{"id":"client-call"}})"})}),
                                  call.id));
  } else {
    bodies.emplace_back(dice.stop());
  }
  return bodies;
}

protocol::chat::RunFacts facts_for(unsigned seed) {
  auto facts = test::facts_of(seed % 2 == 0);
  if (seed % 3 == 0) facts.tools = {R"([{"name":"confirmAction"}])"};
  if (seed % 7 < 4) facts.messages = {R"([{"id":"asked","role":"user","content":"x"}])"};
  if (seed % 5 == 0) facts.confirm_tool = "confirmAction";
  return facts;
}

// The frames, and for each event the number of frames after it was shown.
struct Shown {
  protocol::chat::Frames frames;
  std::vector<std::size_t> after;
};
Shown show(const protocol::chat::RunFacts& facts, const std::vector<EventBody>& bodies) {
  Shown shown;
  const auto view = protocol::chat::agui_protocol().view(facts);
  for (const task::Event& event : log_of(bodies)) {
    view->show(event, shown.frames);
    shown.after.push_back(shown.frames.all().size());
  }
  return shown;
}

std::string problem_of(const protocol::chat::Frames& frames, bool newer) {
  test::ClientRules rules(newer);
  for (const auto& frame : frames.all()) {
    if (auto wrong = rules.take(frame); !wrong.empty()) return wrong;
  }
  return rules.end();
}

}  // namespace

TEST_CASE("AG-UI view: clients accept the stream of any log") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    const auto facts = facts_for(seed);
    const auto problem = problem_of(show(facts, random_run(seed)).frames, facts.newer);
    REQUIRE(problem == "");
  }
}

TEST_CASE("AG-UI view: a run can stop after any of its events") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto facts = facts_for(seed);
    const std::vector<EventBody> run = random_run(seed);
    for (std::size_t length = 0; length < run.size(); ++length) {
      CAPTURE(seed);
      CAPTURE(length);
      std::vector<EventBody> part(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(length));
      part.emplace_back(Dice(seed).stop());
      REQUIRE(problem_of(show(facts, part).frames, facts.newer) == "");
    }
  }
}

TEST_CASE("AG-UI view: a run shown again is the same, frame by frame") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const auto run = random_run(seed);
    const Shown once = show(facts_for(seed), run), twice = show(facts_for(seed), run);
    REQUIRE(once.after == twice.after);
    for (std::size_t i = 0; i < once.frames.all().size(); ++i) {
      REQUIRE(once.frames.all()[i].data == twice.frames.all()[i].data);
    }
  }
}

}  // namespace agui_random_runs_test
