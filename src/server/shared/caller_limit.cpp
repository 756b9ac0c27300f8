#include "server/shared/caller_limit.h"

#include <utility>

namespace baton::server {
namespace {

class HeldStream final : public http::StreamSource {
 public:
  HeldStream(std::unique_ptr<http::StreamSource> source, CallerLimit::Hold hold)
      : source_(std::move(source)), hold_(std::move(hold)) {}
  Next pull(std::string& out, std::size_t room) override { return source_->pull(out, room); }
  bool has_ids() const override { return source_->has_ids(); }
  std::size_t held() const override { return source_->held(); }
  std::size_t kept() const override { return source_->kept(); }
  bool has_share() const override { return source_->has_share(); }

 private:
  const std::unique_ptr<http::StreamSource> source_;
  const CallerLimit::Hold hold_;
};

}  // namespace

CallerLimit::Hold CallerLimit::acquire(const task::Caller& caller) const {
  const int most = state_->most;
  if (most == 0) return state_;
  std::string account(task::account_of(caller));
  const bool taken = state_->held.with([&](auto& held) {
    int& count = held[account];
    return count < most && ++count > 0;
  });
  if (!taken) return nullptr;
  return {static_cast<const void*>(this), [state = state_, account = std::move(account)](const void*) {
            state->held.with([&](auto& held) {
              const auto found = held.find(account);
              if (--found->second == 0) held.erase(found);
            });
          }};
}

http::StreamOpener CallerLimit::kept(Hold hold, http::StreamOpener opener) const {
  const bool is_counted = hold && hold.get() != state_.get();
  if (!is_counted) return opener;
  return [hold = std::move(hold), opener = std::move(opener)](http::Waker waker) {
    return std::make_unique<HeldStream>(opener(std::move(waker)), hold);
  };
}

}  // namespace baton::server
