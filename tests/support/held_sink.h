// HeldSink: a RecordingSink whose calls with a long reply do not return before `let_go`, as if they took
// long.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <utility>

#include "agents/executor.h"
#include "support/recording_sink.h"

namespace baton::test {

class HeldSink final : public agents::TurnSink {
 public:
  static constexpr std::size_t kLong = 50'000;

  void emit(task::EventBody body) override { seen.emit(std::move(body)); }
  void text(std::string delta) override { seen.text(std::move(delta)); }
  void reply(agents::ReplyPiece piece) override {
    const bool is_held = piece.text.size() >= kLong;
    seen.reply(std::move(piece));
    if (is_held) go_.wait();
  }
  void reasoning(std::string delta) override { seen.reasoning(std::move(delta)); }
  bool ready(std::function<void()> when_ready) override { return seen.ready(std::move(when_ready)); }
  void delegate(agents::DelegateRequest request) override { seen.delegate(std::move(request)); }
  void finish(agents::Outcome outcome) override { seen.finish(std::move(outcome)); }

  // Whether a call is held, once there was a long reply.
  bool wait_held() {
    return seen.wait_until([](const RecordingSink& sink) {
      return !sink.replies().empty() && sink.replies().back().text.size() >= kLong;
    });
  }
  void let_go() { go_.count_down(); }

  RecordingSink seen;

 private:
  std::latch go_{1};
};

}  // namespace baton::test
