#include "store/sqlite/writes.h"

namespace baton::store::sqlite {

std::size_t weight_of(const task::Change& change) {
  std::size_t bytes = sizeof(change);
  for (const task::EventBody& body : change.events) bytes += task::weight_of(body);
  if (change.create) bytes += change.create->metadata.text.size();
  if (change.request) {
    bytes += change.request->metadata.text.size() + change.request->tools.text.size() +
             change.request->client_state.text.size();
    for (const std::string& extension : change.request->extensions) bytes += extension.size();
    if (change.request->history) {
      for (const task::Message& message : *change.request->history) bytes += task::weight_of(message);
    }
  }
  return bytes;
}

CommitChange::CommitChange(task::Change change, RecentTasks& recent, ChangesUnderWay& under_way,
                           CommitCallback done, EarlyCallback early)
    : change_(std::move(change)),
      recent_(recent),
      under_way_(under_way),
      task_(change_.task),
      done_(std::move(done)),
      early_(std::move(early)) {
  if (task_) under_way_.begin(task_);
}

void CommitChange::apply(WriteState& state) {
  if (change_.task && !marked_) recent_.changing(marked_ = change_.task);
  result_ = apply_change(state, change_);
  // Marked before readers can see the task: the transaction is still open.
  if (*result_ && !marked_) recent_.changing(marked_ = (*result_)->head.key);
}

void CommitChange::undo() {
  if (result_ && *result_) {
    change_.events.clear();
    for (const task::EventPtr& event : (*result_)->events) change_.events.push_back(event->body);
  }
  result_.reset();
  // A new task may get another key the next time.
  if (marked_) recent_.unchanged(std::exchange(marked_, {}));
}

void CommitChange::refuse(const base::Error& error) {
  change_ = task::Change{};
  result_ = base::fail(error);
}

void CommitChange::committed() {
  if (early_ && *result_) early_(**result_);
  early_ = nullptr;
}

void CommitChange::finish() {
  if (*result_ && change_.create) {
    recent_.created(**result_, std::move(change_.create->metadata), std::move(change_.request));
  } else if (*result_) {
    recent_.advanced(**result_, std::move(change_.request));
  } else if (marked_) {
    recent_.unchanged(marked_);
  }
  done_(std::move(*result_));
  if (!task_) return;
  for (const auto& then : under_way_.end(task_)) then();
}

void SetPush::finish() {
  if (result_) return done_(std::move(config_));
  done_(base::fail(std::move(result_.error())));
}

// The version is in the first page, which SQLite writes even if the value is unchanged.
void Probe::apply(WriteState& state) {
  SQLite::Database& database = state.connection().database();
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  database.exec("PRAGMA user_version=" + std::to_string(version));
}

}  // namespace baton::store::sqlite
