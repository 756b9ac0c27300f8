// RecordingSink: a TurnSink that keeps what it is told, for tests of executors.
//
// Threads: any. Waits have a bound far above what they need, so that a test that hangs fails instead.
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
  void reasoning(std::string delta) override;
  bool ready(std::function<void()> when_ready) override;
  void delegate(agents::DelegateRequest request) override;
  void finish(agents::Outcome outcome) override;

  // From now on `ready` says no, until `make_room`.
  void fill();
  void make_room();

  // Waits until `condition(*this)`, looked at after each call to the sink; says whether it came true.
  bool wait_until(const std::function<bool(const RecordingSink&)>& condition);
  bool wait_finished();

  // To be used after a wait, or within its condition.
  std::string all_text() const { return text_; }
  std::size_t text_calls() const { return text_calls_; }
  std::string all_reasoning() const { return reasoning_; }
  const std::vector<task::EventBody>& events() const { return events_; }
  const std::vector<agents::DelegateRequest>& delegates() const { return delegates_; }
  bool finished() const { return !outcomes_.empty(); }
  // Every end that was reported; more than one is a fault of the executor.
  const std::vector<agents::Outcome>& outcomes() const { return outcomes_; }
  bool refused_room() const { return when_ready_ != nullptr; }

  // The end's text: the error of a failure, else what kind of end it was.
  std::string ending() const;
  template <class T>
  const T* outcome_as() const {
    return outcomes_.empty() ? nullptr : std::get_if<T>(&outcomes_.front());
  }
  // A snapshot of the text, for comparing while the turn runs.
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
  std::string reasoning_;
  std::size_t text_calls_ = 0;
  std::vector<task::EventBody> events_;
  std::vector<agents::DelegateRequest> delegates_;
  std::vector<agents::Outcome> outcomes_;
  bool full_ = false;
  std::function<void()> when_ready_;
};

}  // namespace baton::test
