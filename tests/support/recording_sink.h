// RecordingSink: a TurnSink that records all calls, for tests of executors.
//
// Threads: any. Waits end after test::patience(), so that a test fails instead of hanging.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"

namespace baton::test {

class RecordingSink final : public agents::TurnSink {
 public:
  void emit(task::EventBody body) override;
  void text(std::string delta) override;
  void reply(agents::ReplyPiece piece) override;
  void reasoning(std::string delta) override;
  bool ready(std::function<void()> when_ready) override;
  void delegate(agents::DelegateRequest request) override;
  void finish(agents::Outcome outcome) override;

  // `ready` returns false until `make_room` is called.
  void fill();
  void make_room();

  // Waits until `condition(*this)`, which is evaluated after each call to the sink. Returns false on timeout.
  bool wait_until(const std::function<bool(const RecordingSink&)>& condition);
  bool wait_finished();

  // Not synchronized: call these after a wait or within its condition.
  std::string all_text() const { return text_; }
  // The text of each reply with an id of its own, in order of the first pieces; withdrawn ones are empty.
  const std::vector<agents::SaidReply>& replies() const { return replies_; }
  std::size_t text_calls() const { return text_calls_; }
  std::string all_reasoning() const { return reasoning_; }
  const std::vector<task::EventBody>& events() const { return events_; }
  const std::vector<agents::DelegateRequest>& delegates() const { return delegates_; }
  bool finished() const { return !outcomes_.empty(); }
  // All reported outcomes; more than one is a bug of the executor.
  const std::vector<agents::Outcome>& outcomes() const { return outcomes_; }
  bool refused_room() const { return when_ready_ != nullptr; }

  // The error of a failed turn, otherwise the name of the outcome's kind; "none" before the end.
  std::string ending() const;
  template <class T>
  const T* outcome_as() const {
    return outcomes_.empty() ? nullptr : std::get_if<T>(&outcomes_.front());
  }
  // A copy of the text; may be called while the turn runs.
  std::string text_now();

 private:
  template <class F>
  void change(F&& how) {
    {
      std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::vector<agents::SaidReply> replies_;
  std::string reasoning_;
  std::size_t text_calls_ = 0;
  std::vector<task::EventBody> events_;
  std::vector<agents::DelegateRequest> delegates_;
  std::vector<agents::Outcome> outcomes_;
  bool full_ = false;
  std::function<void()> when_ready_;
};

}  // namespace baton::test
