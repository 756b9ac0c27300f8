// WorkerBench: the workers of one agent whose program obeys each message.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/agent_bench.h"

namespace baton::test {

// Obeys the message of each turn. Runs any number of turns at the same time.
inline constexpr const char* kWorker = R"PY(
import json, os, sys
held = {}
def say(turn, **what):
    print(json.dumps(dict(what, turn=turn)))
for line in sys.stdin:
    line = json.loads(line)
    turn = line["turn"]
    if line["type"] == "cancel":
        if turn in held and held.pop(turn) != "deaf":
            say(turn, type="fail", error="stopped")
        continue
    if line["type"] == "delegate-result":
        say(turn, type="done", message=line["error"])
        continue
    text = line["message"]["parts"][0]["text"]
    if text in ("hold", "deaf"):
        held[turn] = text
        say(turn, type="text", delta="holding")
    elif text == "release":
        for other in list(held):
            say(other, type="done", message="released")
        held.clear()
        say(turn, type="done")
    elif text == "die":
        print("worker says no", file=sys.stderr)
        os._exit(7)
    elif text == "moan":
        print("moans", file=sys.stderr, flush=True)
        say(turn, type="fail", error="moaned")
    elif text == "garbage":
        print("not json")
    elif text == "unknown":
        for _ in range(3):
            say(turn, type="dance")
        say(turn, type="done")
    elif text == "unknown flood":
        while True:
            say(turn, type="dance", steps="x" * 1000)
    elif text == "deep":
        value = turn
        for _ in range(200):
            value = [value]
        say(turn, type="custom", name="deep", value=value)
        say(turn, type="done")
    elif text == "long":
        for piece in ("before ", "x" * 1_000_000, " after"):
            say(turn, type="text", delta=piece)
        say(turn, type="done")
    elif text == "long unknown":
        say(turn, type="dance", steps="x" * 1_000_000)
        say(turn, type="done")
    elif text == "disorder":
        say(turn, type="step", name="s", phase="finish")
        say(turn, type="text", delta="late")
        say(turn, type="done")
    elif text == "stranger":
        say("nobody", type="done")
    elif text == "late":
        say(turn, type="done")
        for _ in range(3):
            say(turn, type="text", delta="late")
    elif text == "late flood":
        say(turn, type="done")
        while True:
            say(turn, type="text", delta="x" * 1000)
    elif text == "delegate":
        say(turn, type="delegate", id="d", agent="a", message="m")
    elif text == "silence":
        held[turn] = "hold"
    elif text == "flood":
        while True:
            say(turn, type="text", delta="x" * 1000)
    else:
        say(turn, type="text", delta=text)
        say(turn, type="done", message=str(os.getpid()))
)PY";

struct WorkerBench : AgentBench {
  explicit WorkerBench(int workers = 1) {
    settings.mode = agents::AgentSettings::Mode::worker;
    settings.workers = workers;
    python(kWorker);
  }

  RunningTest begin(std::string text) {
    return start(turn_of(std::move(text), "turn-" + std::to_string(++next_)));
  }
  std::shared_ptr<RecordingSink> work(std::string text) {
    auto running = begin(std::move(text));
    running.sink->wait_finished();
    return running.sink;
  }
  // Begins a turn that stays open in its worker.
  RunningTest hold(std::string text = "hold") {
    auto running = begin(std::move(text));
    REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
    return running;
  }

 private:
  int next_ = 0;
};

inline std::string message_of(const RecordingSink& sink) {
  const auto* done = sink.outcome_as<agents::Done>();
  return done != nullptr && done->message ? task::text_of(*done->message) : sink.ending();
}

}  // namespace baton::test
