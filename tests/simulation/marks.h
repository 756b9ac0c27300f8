// SOMETIMES(name) records that a rare state was reached. A batch of seeds must reach each mark; otherwise the
// generator never tests that state.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::simulation {

#define BATON_MARKS(X)                        \
  X(killed_with_a_turn_running)               \
  X(killed_with_a_turn_queued)                \
  X(killed_with_a_task_waiting)               \
  X(killed_with_committed_unflushed)          \
  X(killed_with_a_group_open)                 \
  X(killed_between_commit_and_answer)         \
  X(killed_while_recovering)                  \
  X(power_lost_events)                        \
  X(flush_failed)                             \
  X(flush_failed_but_happened)                \
  X(commit_refused)                           \
  X(change_refused)                           \
  X(group_decided_again)                      \
  X(drained_with_a_turn_running)              \
  X(attempt_after_restart)                    \
  X(failed_by_restart)                        \
  X(output_withdrawn)                         \
  X(send_lost_and_repeated)                   \
  X(send_repeated_while_under_way)            \
  X(send_repeated_after_restart)              \
  X(send_refused_as_overloaded)               \
  X(message_waited_for_the_turn)              \
  X(question_answered)                        \
  X(task_reopened)                            \
  X(canceled_while_queued)                    \
  X(canceled_while_running)                   \
  X(cancel_forced)                            \
  X(cancel_came_too_late)                     \
  X(turn_timed_out)                           \
  X(spoke_after_its_end)                      \
  X(finished_after_its_end)                   \
  X(child_finished)                           \
  X(child_canceled)                           \
  X(childs_question_shown)                    \
  X(childs_question_answered)                 \
  X(childs_question_withdrawn)                \
  X(waited_and_was_woken)                     \
  X(waited_across_a_kill)                     \
  X(woken_by_the_time)                        \
  X(woken_beside_children)                    \
  X(woken_by_a_failure)                       \
  X(child_ended_in_the_waits_group)           \
  X(stream_cut_and_resumed)                   \
  X(stream_resumed_after_restart)             \
  X(webhook_repeated)                         \
  X(webhook_delivered_after_restart)          \
  X(webhook_gone)                             \
  X(webhook_hung)                             \
  X(list_told)                                \
  X(task_gone_by_age)                         \
  X(task_erased)                              \
  X(erasure_refused)                          \
  X(tree_gone)                                \
  X(removal_rolled_back)                      \
  X(removal_lost_with_the_power)              \
  X(gone_task_asked_for)                      \
  X(killed_with_a_removal_unflushed)          \
  X(read_waited_for_the_flush)                \
  X(plan_completed)                           \
  X(plan_failed)                              \
  X(plan_canceled)                            \
  X(plan_canceled_in_a_map)                   \
  X(plan_canceled_a_child)                    \
  X(plan_step_retried)                        \
  X(plan_step_timed_out)                      \
  X(plan_waited_for_a_time)                   \
  X(plan_undid_a_step)                        \
  X(plan_undid_a_loser)                       \
  X(plan_turn_begun_again)                    \
  X(plan_began_lost_children_again)           \
  X(plan_child_refused)                       \
  X(plan_lost_events_with_the_power)          \
  X(plan_question_answered)                   \
  X(plan_answered_across_a_kill)              \
  X(killed_while_a_plan_is_undone)            \
  X(killed_while_a_plan_asks)                 \
  X(killed_while_a_plan_waits_for_a_time)     \
  X(killed_between_a_childs_end_and_its_plan) \
  X(group_lost_its_race)                      \
  X(commit_lost_its_race)                     \
  X(row_out_of_date)                          \
  X(queued_turn_taken)                        \
  X(tasks_taken_over)                         \
  X(left_tasks_adopted)                       \
  X(frozen_past_its_lease)                    \
  X(thawed_and_dead)                          \
  X(ended_as_it_was_dead)                     \
  X(alone_again)                              \
  X(word_reached_a_deaf_node)                 \
  X(bus_was_cut)                              \
  X(database_was_away)                        \
  X(running_turn_requeued)                    \
  X(webhook_of_a_dead_node)

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
// The marks from here on are for nodes that share a store, those before for a single node.
inline constexpr auto kFirstOfNodes = static_cast<std::size_t>(Mark::group_lost_its_race);

// In memory that the processes of a batch share.
using MarkCounts = std::array<std::atomic<std::uint64_t>, kMarks>;
inline MarkCounts* mark_counts = nullptr;

inline void reached(Mark mark) {
  if (mark_counts != nullptr) ++(*mark_counts)[static_cast<std::size_t>(mark)];
}

#define SOMETIMES(name) ::baton::simulation::reached(::baton::simulation::Mark::name)

}  // namespace baton::simulation
