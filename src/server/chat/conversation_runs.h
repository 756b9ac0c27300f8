// The runs of a conversation, as a stream of the conversation shows them: read from the store.
//
// Tasks that an agent delegated are not in the conversation; a run shows its children itself.
// Threads: any; reads the store.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "engine/read/task_reader.h"
#include "protocol/chat/run_view.h"
#include "server/chat/conversation_place.h"

namespace baton::server::chat {

// A run whose work has begun, or that ended before it could.
struct FoundRun {
  task::TaskKey key;
  RunName name;
  base::Timestamp began{};  // its first status that is not `submitted`
  bool is_over = false;
};

// The run after the stop `before`; nullopt: it has not begun.
base::Result<std::optional<FoundRun>> run_after(const engine::TaskReader& reader, const task::TaskHead& head,
                                                task::EventNumber before);
inline constexpr std::size_t kAllRuns = std::numeric_limits<std::size_t>::max();
// The runs that began after `floor`, in order; nullopt: they are more than `most`.
base::Result<std::optional<std::vector<FoundRun>>> runs_since(const engine::TaskReader& reader,
                                                              const task::ContextRef& context,
                                                              base::Timestamp floor, std::size_t most);
// The first runs that the place does not know, in order: at least half of them, so that a client that has
// missed many gets them with few looks at all. Tells the place when the runs that it knows began.
base::Result<std::vector<FoundRun>> runs_ahead(const engine::TaskReader& reader,
                                               const task::ContextRef& context, ConversationPlace& place);
// The user's messages that began the run.
base::Result<std::vector<task::Message>> asked_by(const engine::TaskReader& reader, const FoundRun& run);

// The conversation for a client that has none of it: everything but the runs that are not over, which a
// stream shows from `place` on. The messages are limited like those of a page's restore.
struct ConversationStart {
  ConversationPlace place;
  std::vector<task::Message> messages;
  std::vector<protocol::chat::Question> open;  // oldest first
};
// What will be read for it.
struct ConversationHeads {
  std::vector<task::TaskHead> tasks;  // newest first
  std::size_t bytes = 0;              // of logs in memory at once
};
base::Result<ConversationHeads> heads_of(const engine::TaskReader& reader, const task::ContextRef& context);
base::Result<ConversationStart> start_of(const engine::TaskReader& reader, const ConversationHeads& heads);

}  // namespace baton::server::chat
