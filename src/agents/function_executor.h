// FunctionExecutor: an agent that is a C++ function. For agents elsewhere, for tests and for programs that
// embed Baton.
//
// The function runs on a WorkerPool and may block. The turn ends when it returns; an exception fails the
// turn. It cannot be stopped from outside: after a deadline or at shutdown its calls to the FunctionTurn have
// no effect, and it should check `cancelled()` and return.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "agents/executor.h"
#include "base/secret_mask.h"
#include "base/worker_pool.h"

namespace baton::agents {

// A turn as its function sees it. Only for the thread the function runs on.
class FunctionTurn {
 public:
  class Shared;
  FunctionTurn(const Turn& input, std::shared_ptr<Shared> shared)
      : input_(input), shared_(std::move(shared)) {}

  const Turn& input() const { return input_; }
  // Whether the agent was asked to stop, or the turn was dropped.
  bool cancelled() const;
  // Blocks until `cancelled()`, but no longer than `at_most`. Returns `cancelled()`.
  bool wait_cancelled(std::chrono::milliseconds at_most) const;

  // Becomes readable once `cancelled()`; for calls that block on something else. Valid as long as this.
  int stop_fd() const;
  // Whether the turn was ended from outside: the function's calls have no effect any more.
  bool dropped() const;
  // Makes `stop_fd` unreadable again, so that a cancelled function can still make its last calls; no-op if
  // the turn was dropped.
  void hush();

  // Masks secrets in streamed text, reasoning and errors from now on, even if a secret is split between
  // pieces. `mask` is called when a text begins and for errors at the turn's end, which is after the
  // function has returned: it must own all that it uses. It may return null. For agents elsewhere, whose
  // other answers are masked as they are read.
  using Mask = std::function<std::shared_ptr<const base::SecretMask>()>;
  void hide(Mask mask) { mask_ = std::move(mask); }

  // These block while the sink has no room.
  void text(std::string delta);
  // Text of one of several replies that are streamed in turns, under a name that only the function knows.
  // `anew`: it replaces what the reply had; without text the reply is withdrawn. `last`: the reply ends.
  void reply(const std::string& name, std::string text, bool anew = false, bool last = false);
  void reasoning(std::string delta);
  void emit(task::EventBody body);

  // Blocks until the child has stopped. Returns a result without a task after a cancel or a drop.
  DelegateResult delegate(DelegateRequest request);
  // For several children at once: `begin_delegate` starts one, and `result_of` waits as `delegate` does.
  void begin_delegate(DelegateRequest request);
  DelegateResult result_of(const std::string& id);

  // Ends the turn; only the first call counts. A function that returns without it ends the turn as Done or,
  // if it was cancelled, as Canceled.
  void finish(Outcome outcome);

 private:
  const Turn& input_;
  // A text that is streamed in pieces. Its end may be held back for the mask.
  enum class Streamed { text, reasoning };
  void stream(Streamed kind, std::string delta);
  void end_stream();
  void end_replies();
  void tell(Streamed kind, std::string delta);
  void tell(ReplyPiece piece);

  const std::shared_ptr<Shared> shared_;  // shared with the Execution
  Mask mask_;
  std::optional<base::SecretMask::Pieces> pieces_;  // of the open text
  Streamed streamed_ = Streamed::text;
  struct Reply {
    task::ArtifactId id;
    bool begins = true;  // nothing of it, or of what replaces it, was reported
    bool is_shown = false;
    std::optional<base::SecretMask::Pieces> pieces;
  };
  std::unordered_map<std::string, Reply> replies_;  // by the function's name
  bool is_over_ = false;
};

class FunctionExecutor final : public Executor {
 public:
  using Function = std::function<void(FunctionTurn&)>;

  // The pool must outlive this. Stop it before destroying what the function uses.
  FunctionExecutor(base::WorkerPool& pool, Function function);

  // If the pool's queue is full, the turn fails.
  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override;

 private:
  base::WorkerPool& pool_;
  const std::shared_ptr<const Function> function_;  // shared with the turns that run
};

}  // namespace baton::agents
