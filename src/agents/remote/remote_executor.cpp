#include "agents/remote/remote_executor.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agents/function_executor.h"
#include "agents/remote/errand.h"
#include "agents/remote/remote_turn.h"
#include "base/guarded.h"
#include "base/unique_fd.h"

namespace baton::agents {
namespace {

using Interfaces = std::shared_ptr<const RemoteInterfaces>;
using StopFd = std::shared_ptr<const base::UniqueFd>;  // shared with what runs beside the turns

StopFd make_stop_fd() {
  return std::make_shared<const base::UniqueFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

// Cancels the task there in the background: it need not wait for an answer any longer. The result is
// ignored.
void cancel_there(base::WorkerPool& pool, const Interfaces& interfaces, const StopFd& stop,
                  const std::string& ask) {
  static constexpr std::chrono::seconds kCancelMax{15};
  const task::TaskId task = task_of_question(ask);
  if (task.empty()) return;
  (void)pool.try_submit([interfaces, stop, task] {
    const auto found = interfaces->find(stop->get());
    if (!found) return;
    const client::RemoteEndpoint endpoint(found->front(), stop->get());
    (void)endpoint.call(endpoint.dialect().write_cancel(task), kCancelMax);
  });
}

class RemoteExecutor final : public Executor {
 public:
  RemoteExecutor(base::WorkerPool& pool, const task::AgentCard& card, const AgentSettings& settings,
                 outbound::Rules rules)
      : pool_(pool),
        refusal_(rules.of(settings.endpoint).refusal_of(settings.endpoint.url)),
        interfaces_(std::make_shared<const RemoteInterfaces>(card, settings.endpoint, std::move(rules))),
        runs_(pool, [interfaces = interfaces_, settings](FunctionTurn& turn) {
          run_remote_turn(*interfaces, settings, turn);
        }) {}

  // Stops calls in the background that belong to no turn; they need not finish.
  ~RemoteExecutor() override { eventfd_write(stop_->get(), 1); }

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  void withdraw_question(const task::AgentName&, const std::string& ask) override {
    cancel_there(pool_, interfaces_, stop_, ask);
  }

  std::shared_ptr<const task::AgentCard> card() const override {
    if (interfaces_->begin_refresh()) {
      (void)pool_.try_submit(
          [interfaces = interfaces_, stop = stop_] { (void)interfaces->refresh(stop->get()); });
    }
    return interfaces_->card();
  }

  std::vector<std::string> missing() const override {
    return outbound::missing_outside(interfaces_->has_secret(), "the secret for the remote agent", refusal_);
  }

 private:
  base::WorkerPool& pool_;
  const std::string refusal_;
  const Interfaces interfaces_;  // shared with running turns
  const StopFd stop_ = make_stop_fd();
  FunctionExecutor runs_;
};

// The interfaces of the agents that were used last. An agent that was dropped is looked up again.
class KnownUrls {
 public:
  explicit KnownUrls(outbound::Rules rules) : rules_(std::move(rules)) {}

  Interfaces of(const std::string& url) {
    if (const Interfaces known = use(url, nullptr)) return known;
    return use(url, made_for(url));
  }

 private:
  static constexpr std::size_t kKnownMax = 64;
  using Known = std::pair<std::string, Interfaces>;

  // Returns the known interfaces of the URL. If there are none, stores and returns `otherwise`, unless
  // that is null.
  Interfaces use(const std::string& url, const Interfaces& otherwise) {
    Known gone;  // to be destroyed outside the lock
    return known_.with([&](auto& known) {
      const auto found = std::ranges::find(known, url, &Known::first);
      Interfaces used = found == known.end() ? otherwise : found->second;
      if (!used) return used;
      if (found != known.end()) {
        known.erase(found);
      } else if (known.size() >= kKnownMax) {
        gone = std::move(known.front());
        known.erase(known.begin());
      }
      known.emplace_back(url, used);
      return used;
    });
  }

  Interfaces made_for(const std::string& url) const {
    Endpoint endpoint;
    endpoint.url = url;
    return std::make_shared<const RemoteInterfaces>(task::AgentCard(), std::move(endpoint), rules_);
  }

  const outbound::Rules rules_;
  base::Guarded<std::vector<Known>> known_;  // the one that was used last at the end
};

class UrlExecutor final : public Executor {
 public:
  UrlExecutor(base::WorkerPool& pool, const AgentSettings& settings, outbound::Rules rules)
      : pool_(pool),
        known_(std::make_shared<KnownUrls>(std::move(rules))),
        runs_(pool, [known = known_, settings](FunctionTurn& turn) {
          const Interfaces interfaces = known->of(turn.input().agent.value);
          run_remote_turn(*interfaces, settings, turn);
        }) {}

  ~UrlExecutor() override { eventfd_write(stop_->get(), 1); }

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  void withdraw_question(const task::AgentName& agent, const std::string& ask) override {
    cancel_there(pool_, known_->of(agent.value), stop_, ask);
  }

 private:
  base::WorkerPool& pool_;
  const std::shared_ptr<KnownUrls> known_;  // shared with running turns
  const StopFd stop_ = make_stop_fd();
  FunctionExecutor runs_;
};

}  // namespace

std::unique_ptr<Executor> remote_executor(base::WorkerPool& pool, const task::AgentCard& card,
                                          const AgentSettings& settings, outbound::Rules rules) {
  return std::make_unique<RemoteExecutor>(pool, card, settings, std::move(rules));
}

std::unique_ptr<Executor> url_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                       outbound::Rules rules) {
  return std::make_unique<UrlExecutor>(pool, settings, std::move(rules));
}

}  // namespace baton::agents
