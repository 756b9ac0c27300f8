#include "server/show/turn_trace.h"

#include <doctest/doctest.h>

namespace turn_trace_test {
namespace {

using namespace baton;
using server::TurnTrace;
using Kind = TurnTrace::Step::Kind;

// The trace of a log whose events are a second apart.
class Log {
 public:
  explicit Log(bool is_model = false) : trace_(is_model) {}

  Log& add(task::EventBody body) {
    trace_.add(task::Event{{++number_}, base::from_ms(number_ * 1000), std::move(body)});
    return *this;
  }
  Log& asked(const std::string& text) {
    task::MessageAdded message;
    message.message.parts.push_back(task::Part::of_text(text));
    return add(std::move(message));
  }
  Log& is(task::State state, const std::string& text = {}) {
    task::StatusChanged status;
    status.status.state = state;
    if (!text.empty()) {
      status.status.message.emplace();
      status.status.message->role = task::Role::agent;
      status.status.message->parts.push_back(task::Part::of_text(text));
    }
    return add(std::move(status));
  }
  Log& says(const std::string& text, bool first = true) {
    return add(task::TextDelta{{"r"}, 0, text, first, false});
  }
  const std::deque<TurnTrace::Turn>& turns() {
    trace_.finish();
    return trace_.turns();
  }

 private:
  TurnTrace trace_;
  std::int64_t number_ = 0;
};

std::int64_t seconds(base::Timestamp at) {
  return base::to_ms(at) / 1000;
}

}  // namespace

TEST_CASE("TurnTrace: an answer of a model has its time, its text, its usage and its calls") {
  Log log(true);
  log.asked("hello").is(task::State::submitted).is(task::State::working);
  log.says("Let me ", true).says("look.", false);
  log.add(task::Usage{{R"({"model":"tiny","totalTokens":7})"}, 7});
  log.add(task::ExecutorState{
      {R"({"breaks":0,"rounds":[{"text":"Let me look.","calls":[{"id":"1","name":"csv","arguments":"{}"}]}]})"}});
  log.says("Done.").is(task::State::completed);
  REQUIRE(log.turns().size() == 1);
  const TurnTrace::Turn& turn = log.turns().front();
  CHECK(turn.request.text == "hello");
  CHECK(turn.state == task::State::completed);
  CHECK(turn.tokens == 7);
  REQUIRE(turn.steps.size() == 2);
  const TurnTrace::Step& first = turn.steps[0];
  CHECK(first.kind == Kind::model);
  CHECK(first.name == "tiny");
  CHECK(first.answer.text == "Let me look.");
  CHECK(seconds(first.begun) == 3);
  CHECK(seconds(*first.first) == 4);
  CHECK(seconds(*first.ended) == 6);
  CHECK(first.calls == std::vector<std::string>{"csv {}"});
  CHECK(turn.steps[1].kind == Kind::model);
  CHECK(turn.steps[1].answer.text == "Done.");
}

TEST_CASE(
    "TurnTrace: tools and agents are closed by their ends, and what is open at the end of a turn is closed") {
  Log log;
  log.asked("go").is(task::State::working);
  log.add(task::Step{"outer", task::Step::Phase::start});
  log.add(task::ToolCall{"1", "weather", {R"({"city":"Oslo"})"}, true});
  log.add(task::ToolResult{"1", {R"("cold")"}, "too late"});
  task::Subagent child{"c", "csv", task::Subagent::Phase::started};
  child.task = {9};
  log.add(child);
  child.phase = task::Subagent::Phase::failed;
  child.error = "no table";
  child.tokens = 5;
  log.add(child);
  log.is(task::State::failed, "It broke.");
  const TurnTrace::Turn& turn = log.turns().front();
  CHECK(turn.reason == "It broke.");
  CHECK(turn.tokens == 5);
  REQUIRE(turn.steps.size() == 3);
  CHECK(turn.steps[0].ended);
  CHECK(turn.steps[1].depth == 1);
  CHECK(turn.steps[1].by_client);
  CHECK(turn.steps[1].answer.text == "cold");
  CHECK(turn.steps[1].error == "too late");
  CHECK(turn.steps[2].child == task::TaskKey{9});
  CHECK(turn.steps[2].error == "no table");
  CHECK(seconds(*turn.steps[2].ended) == 7);
}

TEST_CASE("TurnTrace: each message begins a turn, and one that came during a turn begins the next") {
  Log log;
  log.asked("one").is(task::State::working).asked("two").says("1");
  log.is(task::State::submitted).is(task::State::working).says("2").is(task::State::completed);
  REQUIRE(log.turns().size() == 2);
  CHECK(log.turns()[0].steps.at(0).answer.text == "1");
  CHECK(log.turns()[1].request.text == "two");
  CHECK(log.turns()[1].message == task::EventNumber{3});
  CHECK(log.turns()[1].steps.at(0).answer.text == "2");
}

TEST_CASE("TurnTrace: long texts are cut and counted, and only the last turns and the first steps are kept") {
  Log log;
  for (std::size_t i = 0; i <= TurnTrace::kTurnsMax; ++i)
    log.asked("x").is(task::State::working).is(task::State::completed);
  log.asked("last").is(task::State::working).says(std::string(5000, 'a')).says("b", false);
  for (std::size_t i = 0; i < TurnTrace::kStepsMax + 3; ++i) log.add(task::Custom{"n", {"1"}});
  log.is(task::State::completed);
  CHECK(log.turns().size() == TurnTrace::kTurnsMax);
  const TurnTrace::Turn& turn = log.turns().back();
  CHECK(turn.steps.size() == TurnTrace::kStepsMax);
  CHECK(turn.left_out == 4);
}

}  // namespace turn_trace_test
