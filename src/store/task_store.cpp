// Until the SQLite store has these; then they become pure and this file goes.
#include "store/task_store.h"

namespace baton::store {

base::Result<EarlierSend> TaskStore::earlier_send(const SendDigest&) const {
  return base::fail(base::ErrorCode::not_found, "no earlier send");
}
base::Result<task::Event> TaskStore::first_stop(task::TaskKey, task::EventNumber) const {
  return base::fail(base::ErrorCode::not_found, "no stop");
}
base::Result<ListPage> TaskStore::list(const task::ListFilter&) const {
  return base::fail(base::ErrorCode::unsupported, "no lists yet");
}
void TaskStore::delete_push(task::TaskKey, task::PushConfigId, std::function<void(base::Result<void>)> done) {
  done(base::fail(base::ErrorCode::unsupported, "no deletion yet"));
}

}  // namespace baton::store
