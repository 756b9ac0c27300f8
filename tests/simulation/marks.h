// SOMETIMES(name): says that a rare state was reached. A batch of seeds must reach each, or the generator is
// blind.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::simulation {

#define BATON_MARKS(X)                \
  X(killed_with_a_turn_running)       \
  X(killed_with_a_turn_queued)        \
  X(killed_with_a_task_waiting)       \
  X(killed_with_committed_unflushed)  \
  X(killed_with_a_group_open)         \
  X(killed_between_commit_and_answer) \
  X(killed_while_recovering)          \
  X(power_lost_events)                \
  X(flush_failed)                     \
  X(flush_failed_but_happened)        \
  X(commit_refused)                   \
  X(change_refused)                   \
  X(group_decided_again)              \
  X(drained_with_a_turn_running)      \
  X(attempt_after_restart)            \
  X(failed_by_restart)                \
  X(output_withdrawn)                 \
  X(send_lost_and_repeated)           \
  X(send_repeated_while_under_way)    \
  X(send_repeated_after_restart)      \
  X(send_refused_as_overloaded)       \
  X(message_waited_for_the_turn)      \
  X(question_answered)                \
  X(task_reopened)                    \
  X(canceled_while_queued)            \
  X(canceled_while_running)           \
  X(cancel_forced)                    \
  X(cancel_came_too_late)             \
  X(turn_timed_out)                   \
  X(spoke_after_its_end)              \
  X(finished_after_its_end)           \
  X(child_finished)                   \
  X(child_canceled)                   \
  X(waited_and_was_woken)             \
  X(waited_across_a_kill)             \
  X(child_ended_in_the_waits_group)   \
  X(stream_cut_and_resumed)           \
  X(stream_resumed_after_restart)     \
  X(webhook_repeated)                 \
  X(webhook_delivered_after_restart)  \
  X(webhook_gone)                     \
  X(webhook_hung)                     \
  X(list_told)                        \
  X(read_waited_for_the_flush)

enum class Mark {
#define BATON_MARK(name) name,
  BATON_MARKS(BATON_MARK)
#undef BATON_MARK
};
inline constexpr std::string_view kMarkNames[] = {
#define BATON_MARK(name) #name,
    BATON_MARKS(BATON_MARK)
#undef BATON_MARK
};
inline constexpr std::size_t kMarks = std::size(kMarkNames);

// In memory that the processes of a batch share.
using MarkCounts = std::array<std::atomic<std::uint64_t>, kMarks>;
inline MarkCounts* mark_counts = nullptr;

inline void reached(Mark mark) {
  if (mark_counts != nullptr) ++(*mark_counts)[static_cast<std::size_t>(mark)];
}

#define SOMETIMES(name) ::baton::simulation::reached(::baton::simulation::Mark::name)

}  // namespace baton::simulation
