#include "server/mcp/running_calls.h"

#include <utility>

namespace baton::server::mcp {
namespace {

// A session's id has no line end.
std::string name_of(const std::string& session, const std::string& request) {
  return session + "\n" + request;
}

}  // namespace

RunningCalls::Hold RunningCalls::add(const std::string& session, const std::string& request,
                                     std::function<void()> cancel) const {
  std::string name = name_of(session, request);
  const std::uint64_t number = state_->with([&](State& state) {
    const std::uint64_t next = state.next++;
    state.calls[name] = {std::move(cancel), next};
    return next;
  });
  return {nullptr, [state = state_, name = std::move(name), number](const void*) {
            state->with([&](State& now) {
              const auto found = now.calls.find(name);
              if (found != now.calls.end() && found->second.number == number) now.calls.erase(found);
            });
          }};
}

void RunningCalls::cancel(const std::string& session, const std::string& request) const {
  const auto cancel = state_->with([&](const State& state) -> std::function<void()> {
    const auto found = state.calls.find(name_of(session, request));
    return found == state.calls.end() ? std::function<void()>() : found->second.cancel;
  });
  if (cancel) cancel();
}

}  // namespace baton::server::mcp
