#include "server/shared/options.h"

#include <algorithm>

namespace baton::server {

bool TokenList::has_callers() const {
  return std::ranges::any_of(now(), [](const Token& token) { return token.role == Role::calls; });
}

TokenList& TokenList::operator=(std::vector<Token> tokens) {
  auto list = std::make_unique<const std::vector<Token>>(std::move(tokens));
  state_->all.with([&](auto& all) {
    state_->now.store(list.get(), std::memory_order_release);
    all.push_back(std::move(list));
  });
  return *this;
}

}  // namespace baton::server
