// Inbox: the works that take tasks out of the store.
#include "engine/decide/inbox_work.h"

#include <memory>

namespace baton::engine {

void Inbox::remove(store::RetentionStore& store, store::Removal removal, Also also, Gone done) {
  const std::size_t bytes = sizeof(Removing) + removal.tasks.size() * sizeof(store::Removal::One);
  push(std::make_unique<Removing>(store, std::move(removal), std::move(also), std::move(done)), bytes);
}

void Inbox::tidy(store::RetentionStore& store, std::int64_t spare_pages, Tidied done) {
  push(std::make_unique<Tidying>(store, spare_pages, std::move(done)), sizeof(Tidying));
}

}  // namespace baton::engine
