#include "agents/command/command_turn.h"

#include "agents/command/process.h"
#include "agents/command/process_host.h"

namespace baton::agents {
namespace {

class CommandExecution final : public Execution {
 public:
  CommandExecution(ProcessHost& host, std::shared_ptr<CommandTurn> turn)
      : host_(host), turn_(std::move(turn)) {}

  ~CommandExecution() override {
    turn_->gate().close();
    host_.post([turn = turn_] { turn->abandon(); });
  }

  void cancel() override {
    host_.post([turn = turn_] { turn->cancel(); });
  }

  void deliver(DelegateResult result) override {
    host_.post([turn = turn_, result = std::move(result)] { turn->deliver(result); });
  }

 private:
  ProcessHost& host_;
  const std::shared_ptr<CommandTurn> turn_;
};

}  // namespace

void pause_unless_ready(ProcessHost& host, const std::shared_ptr<Process>& process, SinkGate& gate) {
  bool is_ready = true;
  gate.use([&](TurnSink& sink) {
    sink.release();
    is_ready = sink.ready([&host, weak = std::weak_ptr(process)] {
      auto alive = weak.lock();
      if (alive != nullptr) host.post([alive = std::move(alive)] { alive->resume_output(); });
    });
  });
  if (!is_ready) process->pause_output();
}

void decode_apart(ProcessHost& host, std::shared_ptr<Process> process, std::string line,
                  std::function<void(std::string_view, line::Decoded)> then) {
  process->hold_output();
  std::function<void()> work = [&host, process = std::move(process), line = std::move(line),
                                then = std::move(then)]() mutable {
    auto decoded = std::make_shared<line::Decoded>();
    try {
      *decoded = line::decode_any(line);
    } catch (const std::bad_alloc&) {
      decoded->line = base::fail(base::ErrorCode::overloaded, "there is no memory to read it");
    }
    host.post([process, line = std::move(line), then = std::move(then), decoded] {
      then(line, std::move(*decoded));
      process->release_output();
    });
  };
  if (!host.slow_work().try_submit(std::move(work))) work();
}

std::unique_ptr<Execution> run_turn(ProcessHost& host, std::shared_ptr<CommandTurn> turn) {
  auto handle = std::make_unique<CommandExecution>(host, turn);
  host.post([turn = std::move(turn)] { turn->begin(); });
  return handle;
}

}  // namespace baton::agents
