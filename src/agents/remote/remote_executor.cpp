#include "agents/remote/remote_executor.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>
#include <vector>

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

// Cancels the task there in the background: it need not wait for an answer any longer.
void cancel_there(const RemoteServices& services, const Interfaces& interfaces, const StopFd& stop,
                  const std::string& ask) {
  static constexpr std::chrono::seconds kCancelMax{15};
  const task::TaskId task = task_of_question(ask);
  if (task.empty()) return;
  (void)services.threads.try_submit([interfaces, stop, task] {
    const auto found = interfaces->find(stop->get());
    if (found) cancel_blocking(found->front(), task, kCancelMax, stop->get());
  });
}

class RemoteExecutor final : public Executor {
 public:
  RemoteExecutor(const RemoteServices& services, const task::AgentCard& card, const AgentSettings& settings,
                 outbound::Rules rules)
      : services_(services),
        refusal_(rules.of(settings.endpoint).refusal_of(settings.endpoint.url)),
        settings_(std::make_shared<const AgentSettings>(settings)),
        interfaces_(std::make_shared<const RemoteInterfaces>(card, settings.endpoint, std::move(rules))) {}

  // Stops calls in the background that belong to no turn; they need not finish.
  ~RemoteExecutor() override { eventfd_write(stop_->get(), 1); }

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return start_remote_turn(services_, interfaces_, settings_, std::move(turn), std::move(sink));
  }

  void withdraw_question(const task::AgentName&, const std::string& ask) override {
    cancel_there(services_, interfaces_, stop_, ask);
  }

  std::shared_ptr<const task::AgentCard> card() const override {
    if (interfaces_->begin_refresh()) {
      (void)services_.threads.try_submit(
          [interfaces = interfaces_, stop = stop_] { (void)interfaces->refresh(stop->get()); });
    }
    return interfaces_->card();
  }

  std::vector<std::string> missing() const override {
    return outbound::missing_outside(interfaces_->has_secret(), "the secret for the remote agent", refusal_);
  }

 private:
  const RemoteServices services_;
  const std::string refusal_;
  const std::shared_ptr<const AgentSettings> settings_;  // these two: shared with running turns
  const Interfaces interfaces_;
  const StopFd stop_ = make_stop_fd();
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
  UrlExecutor(const RemoteServices& services, const AgentSettings& settings, outbound::Rules rules)
      : services_(services),
        settings_(std::make_shared<const AgentSettings>(settings)),
        known_(std::move(rules)) {}

  ~UrlExecutor() override { eventfd_write(stop_->get(), 1); }

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    Interfaces interfaces = known_.of(turn.agent.value);
    return start_remote_turn(services_, std::move(interfaces), settings_, std::move(turn), std::move(sink));
  }

  void withdraw_question(const task::AgentName& agent, const std::string& ask) override {
    cancel_there(services_, known_.of(agent.value), stop_, ask);
  }

 private:
  const RemoteServices services_;
  const std::shared_ptr<const AgentSettings> settings_;  // shared with running turns
  KnownUrls known_;
  const StopFd stop_ = make_stop_fd();
};

}  // namespace

std::unique_ptr<Executor> remote_executor(const RemoteServices& services, const task::AgentCard& card,
                                          const AgentSettings& settings, outbound::Rules rules) {
  return std::make_unique<RemoteExecutor>(services, card, settings, std::move(rules));
}

std::unique_ptr<Executor> url_executor(const RemoteServices& services, const AgentSettings& settings,
                                       outbound::Rules rules) {
  return std::make_unique<UrlExecutor>(services, settings, std::move(rules));
}

}  // namespace baton::agents
