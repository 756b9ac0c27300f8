#include "agents/function_executor.h"

#include <map>
#include <utility>

#include "agents/sink_gate.h"
#include "base/log.h"

namespace baton::agents {

// One turn's state, shared by its function's thread and its Execution.
class FunctionTurn::Shared {
 public:
  explicit Shared(std::shared_ptr<TurnSink> sink) : gate(std::move(sink)) {}

  bool stopping() const {
    std::lock_guard lock(mutex_);
    return cancelled_ || dropped_;
  }

  bool wait_stopping(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return cancelled_ || dropped_; });
  }

  void cancel() {
    change([this] { cancelled_ = true; });
  }

  void drop() {
    gate.close();
    change([this] { dropped_ = true; });
  }

  void deliver(DelegateResult result) {
    change([&] { results_.emplace(result.id, std::move(result)); });
  }

  DelegateResult wait_for(const std::string& id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_.contains(id) || cancelled_ || dropped_; });
    const auto found = results_.find(id);
    if (found == results_.end()) return {id, std::nullopt, "the turn was canceled"};
    DelegateResult result = std::move(found->second);
    results_.erase(found);
    return result;
  }

  // `self` is this, shared: the sink may call back after the turn has gone.
  static void wait_for_room(const std::shared_ptr<Shared>& self) {
    bool is_ready = true;
    {
      std::lock_guard lock(self->mutex_);
      self->room_ = false;
    }
    self->gate.use([&](TurnSink& sink) {
      is_ready = sink.ready([weak = std::weak_ptr(self)] {
        if (const auto shared = weak.lock()) shared->change([&] { shared->room_ = true; });
      });
    });
    if (is_ready) return;
    std::unique_lock lock(self->mutex_);
    self->changed_.wait(lock, [&] { return self->room_ || self->dropped_; });
  }

  SinkGate gate;

 private:
  template <class F>
  void change(F&& how) {
    {
      std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  bool dropped_ = false;
  bool room_ = false;
  std::map<std::string, DelegateResult> results_;
};

namespace {

using Shared = FunctionTurn::Shared;

class FunctionExecution final : public Execution {
 public:
  explicit FunctionExecution(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~FunctionExecution() override { shared_->drop(); }
  void cancel() override { shared_->cancel(); }
  void deliver(DelegateResult result) override { shared_->deliver(std::move(result)); }

 private:
  const std::shared_ptr<Shared> shared_;  // shared with the function's thread
};

void run(const FunctionExecutor::Function& function, const Turn& input,
         const std::shared_ptr<Shared>& shared) {
  FunctionTurn turn(input, shared);
  // Foreign code: nothing it throws may end Baton.
  try {
    function(turn);
    turn.finish(turn.cancelled() ? Outcome{Canceled{}} : Outcome{Done{}});
  } catch (const std::exception& error) {
    base::log_error({{"agent", input.agent.value}, {"task", input.task.value}},
                    "the agent function threw: {}", error.what());
    turn.finish(Failed{"the agent failed"});
  } catch (...) {
    base::log_error({{"agent", input.agent.value}, {"task", input.task.value}},
                    "the agent function threw an unknown exception");
    turn.finish(Failed{"the agent failed"});
  }
}

}  // namespace

FunctionTurn::FunctionTurn(const Turn& input, std::shared_ptr<Shared> shared)
    : input_(input), shared_(std::move(shared)), output_(shared_->gate, input.reply_ids) {}

bool FunctionTurn::cancelled() const {
  return shared_->stopping();
}

bool FunctionTurn::wait_cancelled(std::chrono::milliseconds at_most) const {
  return shared_->wait_stopping(at_most);
}

void FunctionTurn::text(std::string delta) {
  output_.text(std::move(delta));
  Shared::wait_for_room(shared_);
}

void FunctionTurn::emit(task::EventBody body) {
  output_.emit(std::move(body));
  Shared::wait_for_room(shared_);
}

DelegateResult FunctionTurn::delegate(DelegateRequest request) {
  const std::string id = request.id;
  output_.delegate(std::move(request));
  // If the gate was closed, the turn was dropped, and this does not wait.
  return shared_->wait_for(id);
}

void FunctionTurn::finish(Outcome outcome) {
  output_.finish(std::move(outcome));
}

FunctionExecutor::FunctionExecutor(base::WorkerPool& pool, Function function)
    : pool_(pool), function_(std::make_shared<const Function>(std::move(function))) {}

std::unique_ptr<Execution> FunctionExecutor::start(Turn turn, std::shared_ptr<TurnSink> sink) {
  auto shared = std::make_shared<Shared>(std::move(sink));
  auto running = std::make_unique<FunctionExecution>(shared);
  const auto kept = std::make_shared<const Turn>(std::move(turn));
  if (!pool_.try_submit([function = function_, kept, shared] { run(*function, *kept, shared); })) {
    shared->gate.use(
        [](TurnSink& full) { full.finish(Failed{"too many turns are running at once; try again later"}); });
  }
  return running;
}

}  // namespace baton::agents
