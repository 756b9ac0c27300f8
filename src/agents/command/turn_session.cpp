#include "agents/command/turn_session.h"

#include "agents/command/process.h"
#include "agents/command/process_host.h"

namespace baton::agents {
namespace {

class SessionHandle final : public RunningTurn {
 public:
  SessionHandle(ProcessHost& host, std::shared_ptr<TurnSession> session)
      : host_(host), session_(std::move(session)) {}

  ~SessionHandle() override {
    session_->gate().close();
    host_.post([session = session_] { session->abandon(); });
  }

  void cancel() override {
    host_.post([session = session_] { session->cancel(); });
  }

  void deliver(DelegateResult result) override {
    host_.post([session = session_, result = std::move(result)] { session->deliver(result); });
  }

 private:
  ProcessHost& host_;
  const std::shared_ptr<TurnSession> session_;
};

}  // namespace

void pause_unless_ready(ProcessHost& host, const std::shared_ptr<Process>& process, SinkGate& gate) {
  bool go_on = true;
  gate.use([&](TurnSink& sink) {
    sink.release();
    go_on = sink.ready([&host, weak = std::weak_ptr(process)] {
      auto alive = weak.lock();
      if (alive != nullptr) host.post([alive = std::move(alive)] { alive->resume_output(); });
    });
  });
  if (!go_on) process->pause_output();
}

std::unique_ptr<RunningTurn> run_session(ProcessHost& host, std::shared_ptr<TurnSession> session) {
  auto handle = std::make_unique<SessionHandle>(host, session);
  host.post([session = std::move(session)] { session->begin(); });
  return handle;
}

}  // namespace baton::agents
