#include "store/sqlite/context_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "store/sqlite/artifact_reader.h"
#include "store/sqlite/context_rows.h"
#include "store/sqlite/event_rows.h"
#include "store/sqlite/index_rows.h"
#include "task/fold.h"

namespace baton::store::sqlite {
namespace {

using base::fail;
using base::Result;

// Memory limit of one read: it returns the newest messages up to this size, at least one.
constexpr std::size_t kBytesMax = 4 << 20;

// The streamed reply that begins at an event, as a message. Empty: a later event withdrew or restarted it.
Result<std::optional<task::Message>> read_reply(Connection& connection, task::TaskKey key, bool indexed,
                                                int ordinal, task::EventNumber begin) {
  auto artifact = indexed ? read_artifact_if_begun(connection, key, ordinal, begin)
                          : short_artifact_if_begun(connection, key, ordinal, begin);
  if (!artifact) return fail(artifact.error());
  if (!*artifact) return std::optional<task::Message>();
  task::Message message;
  message.id = {(*artifact)->id.value};
  message.role = task::Role::agent;
  message.parts = std::move((*artifact)->parts);
  return std::optional(std::move(message));
}

// Collects messages from the newest on.
class Conversation {
 public:
  Conversation(Connection& connection, task::TaskKey task, task::EventNumber unanswered, int limit)
      : connection_(connection),
        task_(task),
        unanswered_(unanswered),
        wanted_(static_cast<std::size_t>(std::max(limit, 0))) {}

  bool is_full() const { return said_.size() >= wanted_ || bytes_ >= kBytesMax; }

  Result<void> add_message(task::TaskKey key, task::Event&& event) {
    const task::EventNumber number = event.number;
    bytes_ += task::weight_of(event.body);
    // The streamed reply itself is part of the conversation.
    std::optional<task::Event> changed;
    const task::Event* own = task::without_repeated_reply(event, changed);
    if (own == nullptr || task::message_in(own->body) == nullptr) return {};
    if (changed) event = std::move(*changed);
    auto message = message_of(std::move(event));
    if (!message) return fail(message.error());
    const bool waits = key == task_ && number >= unanswered_ && message->role == task::Role::user;
    if (!waits) said_.push_back(std::move(*message));
    return {};
  }

  // Adds the streamed reply that begins with this event.
  Result<void> add_reply(task::TaskKey key, bool indexed, int ordinal, const task::Event& event) {
    bytes_ += task::weight_of(event.body);
    auto reply = read_reply(connection_, key, indexed, ordinal, event.number);
    if (!reply) return fail(reply.error());
    if (*reply) said_.push_back(std::move(**reply));
    return {};
  }

  std::vector<task::Message> oldest_first() && {
    std::reverse(said_.begin(), said_.end());
    return std::move(said_);
  }

 private:
  Connection& connection_;
  const task::TaskKey task_;
  const task::EventNumber unanswered_;
  const std::size_t wanted_;
  std::vector<task::Message> said_;
  std::size_t bytes_ = 0;
};

Result<void> gather(Connection& connection, task::ContextKey context, Conversation& conversation) {
  static constexpr char kSql[] =
      "SELECT c.task_key, c.reply_ordinal, t.indexed, e.event_key, e.kind, e.at_ms, e.body "
      "FROM conversation c JOIN events e ON e.event_key = (c.task_key << 28) + c.number "
      "JOIN tasks t ON t.task_key = c.task_key "
      "WHERE c.context_key = ? ORDER BY c.at_ms DESC, c.task_key DESC, c.number DESC";
  Query query = connection.query(kSql, context);
  while (!conversation.is_full() && query.step()) {
    const task::TaskKey key{query.integer(0)};
    auto event = event_at(query, 3);
    if (!event) return fail(event.error());
    const auto added = query.is_null(1) ? conversation.add_message(key, std::move(*event))
                                        : conversation.add_reply(key, query.truth(2), query.small(1), *event);
    if (!added) return added;
  }
  return {};
}

Result<void> gather_alone(Connection& connection, task::TaskKey key, Conversation& conversation) {
  const auto log = read_short_log(connection, key, task::kLogEnd);
  if (!log) return fail(log.error());
  const std::vector<task::EventEffect> effects = effects_of(*log);
  for (std::size_t i = log->size(); i-- > 0 && !conversation.is_full();) {
    const task::Event& event = *(*log)[i];
    Result<void> added;
    if (effects[i].said) added = conversation.add_message(key, task::Event(event));
    if (effects[i].reply_begins) added = conversation.add_reply(key, false, *effects[i].reply_begins, event);
    if (!added) return added;
  }
  return {};
}

Result<std::vector<std::string>> call_ids(Connection& connection, task::ContextKey context,
                                          task::TaskKey alone) {
  std::vector<std::string> ids;
  if (alone) {
    const auto log = read_short_log(connection, alone, task::kLogEnd);
    if (!log) return fail(log.error());
    for (const task::EventPtr& event : *log) {
      if (const std::string* id = task::taken_id_in(event->body)) ids.push_back(*id);
    }
    return ids;
  }
  Query query = connection.query("SELECT call_id FROM calls WHERE context_key = ?", context);
  while (query.step()) ids.push_back(query.text(0));
  return ids;
}

}  // namespace

Result<ContextRecord> read_context(Connection& connection, task::ContextKey context, task::TaskKey task,
                                   task::EventNumber unanswered, int limit) {
  Conversation conversation(connection, task, unanswered, limit);
  const task::TaskKey alone = find_alone(connection, context);
  const auto gathered =
      alone ? gather_alone(connection, alone, conversation) : gather(connection, context, conversation);
  if (!gathered) return fail(gathered.error());
  auto ids = call_ids(connection, context, alone);
  if (!ids) return fail(ids.error());
  return ContextRecord{std::move(conversation).oldest_first(), std::move(*ids)};
}

}  // namespace baton::store::sqlite
