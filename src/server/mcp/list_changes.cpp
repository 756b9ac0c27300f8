#include "server/mcp/list_changes.h"

#include <utility>
#include <vector>

namespace baton::server::mcp {

ListChanges::Hold ListChanges::add(std::function<void()> changed) const {
  const std::uint64_t number = state_->with([&](State& state) {
    state.hear.emplace(state.next, std::move(changed));
    return state.next++;
  });
  return {nullptr, [state = state_, number](const void*) {
            state->with([&](State& now) { now.hear.erase(number); });
          }};
}

void ListChanges::tell() const {
  const auto all = state_->with([](const State& state) {
    std::vector<std::function<void()>> functions;
    for (const auto& [number, changed] : state.hear) functions.push_back(changed);
    return functions;
  });
  for (const auto& changed : all) changed();
}

}  // namespace baton::server::mcp
