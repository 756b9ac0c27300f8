#include "agents/function_executor.h"

#include <sys/eventfd.h>

#include <map>
#include <utility>

#include "agents/sink_gate.h"
#include "base/log.h"
#include "base/unique_fd.h"

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

  bool dropped() const {
    std::lock_guard lock(mutex_);
    return dropped_;
  }

  // The flag and the descriptor change together, under the lock.
  void cancel() {
    change([this] {
      cancelled_ = true;
      eventfd_write(stop_.get(), 1);
    });
  }

  void drop() {
    gate.close();
    change([this] {
      dropped_ = true;
      eventfd_write(stop_.get(), 1);
    });
  }

  int stop_fd() const { return stop_.get(); }
  void hush() const {
    std::lock_guard lock(mutex_);
    if (dropped_) return;
    eventfd_t count = 0;
    eventfd_read(stop_.get(), &count);
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

  const base::UniqueFd stop_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
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

int FunctionTurn::stop_fd() const {
  return shared_->stop_fd();
}

bool FunctionTurn::dropped() const {
  return shared_->dropped();
}

void FunctionTurn::hush() {
  shared_->hush();
}

void FunctionTurn::text(std::string delta) {
  output_.text(std::move(delta));
  Shared::wait_for_room(shared_);
}

void FunctionTurn::reply(const std::string& name, std::string text, bool anew, bool last) {
  output_.reply(name, std::move(text), anew, last);
  Shared::wait_for_room(shared_);
}

void FunctionTurn::reasoning(std::string delta) {
  output_.reasoning(std::move(delta));
  Shared::wait_for_room(shared_);
}

void FunctionTurn::emit(task::EventBody body) {
  output_.emit(std::move(body));
  Shared::wait_for_room(shared_);
}

DelegateResult FunctionTurn::delegate(DelegateRequest request) {
  const std::string id = request.id;
  begin_delegate(std::move(request));
  return result_of(id);
}

void FunctionTurn::begin_delegate(DelegateRequest request) {
  output_.delegate(std::move(request));
}

// If the gate was closed, the turn was dropped, and `wait_for` does not wait.
DelegateResult FunctionTurn::result_of(const std::string& id) {
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
