#!/usr/bin/python3
"""The faults that are planted to see whether the simulator finds them. Writes the changed sources of one into a folder,
which comes before src/ when its program is compiled.

    mutants.py --list              names, one a line
    mutants.py --sources NAME      the sources to compile again, relative to src/ or, of simulation/, to tests/
    mutants.py --nodes NAME        how many nodes it takes to find it
    mutants.py NAME SRC FOLDER     writes them

Each edit names a text that occurs exactly once in its file; if the source no longer has it, the build fails. An empty
text means that the source is only compiled again, because a header has changed."""
import pathlib
import sys

MUTANTS = {
    # Output of an executor is still accepted after its turn was ended.
    "no_fence": [
        ("engine/turns/running_turn.cpp", """    if (state.phase == Phase::over || state.outcome) return false;
    const std::size_t times = reply_as_ == agents::AgentSettings::ReplyAs::artifact ? 1 : 2;
    if (fits(state, times * delta.size()))""",
         """    const std::size_t times = reply_as_ == agents::AgentSettings::ReplyAs::artifact ? 1 : 2;
    if (fits(state, times * delta.size()))"""),
        ("engine/turns/running_turn.cpp", """    if (state.phase != Phase::running || state.posted ||""",
         """    if (state.phase == Phase::starting || state.posted ||"""),
        ("engine/decide/kinds/turn_output.cpp", """  is_lost = is_over || !is_running(now.head, turn, attempt);""",
         """  is_lost = task::is_terminal(now.head.state);"""),
        ("engine/decide/kinds/turn_output.cpp", """  change.fence = {now.head.turn, now.head.attempt};""", ""),
        ("engine/turns/running_turn.cpp", """    if (may_end(state)) output.outcome""",
         """    if (may_end(state) && state.phase != Phase::over) output.outcome"""),
    ],
    # Decisions are made on the task as readers see it, which may be outdated, and are repeated only after a version
    # conflict. With the check in apply.cpp left in place no seed fails.
    "no_version_check": [
        ("engine/decide/inbox_work.h", """    auto change = decision_.decide(row);""",
         """    store::TaskRow seen = row;
    if (const auto log = decision_.task ? inbox.live_.log(decision_.task) : nullptr) seen.head = log->head;
    auto change = decision_.decide(seen);
    if (!change) change = decision_.decide(row);"""),
        ("engine/decide/inbox_work.h", """    result_ = inbox.store_.apply(*change, row);""",
         """    result_ = inbox.store_.apply(*change, row);
    if (!result_ && result_.error().code == base::ErrorCode::conflict) {
      if (auto again = decision_.decide(row)) result_ = inbox.store_.apply(*(change = std::move(again)), row);
    }"""),
        ("engine/decide/inbox.cpp", "", ""),
        ("task/apply.cpp", """  if (change.expected && *change.expected != head.version) {""",
         """  if (false) {"""),
    ],
    # A task is removed by age although one of its webhooks waits.
    "no_hold_for_webhooks": [
        ("engine/upkeep/retention.cpp", """    if (member.delivers || !store""", """    if (!store"""),
        ("store/memory/memory_store.cpp", """(erases || !delivers);""", """(erases || !delivers || true);"""),
    ],
    # A repeated send is treated as a new one.
    "no_dedup": [
        ("store/memory/memory_store.cpp", """  if (change.send &&
      has(""", """  if (change.send && false &&
      has("""),
    ],
    # Committed groups are published and reported before they are flushed.
    "publish_before_flush": [
        ("engine/decide/inbox.cpp", """    flush(groups);
    {
      std::lock_guard lock(mutex_);
      flushing_ = false;
    }
    may_gather_.notify_one();
    wait_for(heard_, groups.back().place);
    call_back(groups, flush_busy_, flush_calling_);
""", """    wait_for(heard_, groups.back().place);
    call_back(groups, flush_busy_, flush_calling_);
    flush(groups);
    {
      std::lock_guard lock(mutex_);
      flushing_ = false;
    }
    may_gather_.notify_one();
"""),
    ],
    # The same by the engine's thread, where the disk is quick.
    "publish_before_own_flush": [
        ("engine/decide/inbox.cpp", """  flush(groups);
  call_back(groups, engine_busy_, engine_calling_);""", """  call_back(groups, engine_busy_, engine_calling_);
  flush(groups);"""),
    ],
    # A row that was loaded does not wake the engine's thread.
    "lost_wakeup": [
        ("engine/decide/inbox.cpp", """    loaded_.push_back({key, std::move(row)});
  }
  may_gather_.notify_one();""", """    loaded_.push_back({key, std::move(row)});
  }"""),
    ],
    # After a restart, a turn that was running is not queued again.
    "forgetful_recovery": [
        ("engine/upkeep/recovery.cpp", """    if (now->turn_state == task::TurnState::none || runs) continue;""",
         """    const bool was_queued = head.turn_state == task::TurnState::queued;
    if ((now->turn_state != task::TurnState::waiting && !was_queued) || runs) continue;"""),
    ],
    # After a restart, nobody listens for the children that a turn waits for.
    "forgets_waiting": [
        ("engine/engine.cpp", """    if (head.awaited == 0) continue;""", """    continue;"""),
    ],
    # After a restart, a turn that waits for a time is never woken.
    "forgets_time": [
        ("engine/engine.cpp", """  for (const task::TaskHead& head : found.going_on) turns_.schedule(head);""",
         """  for (const task::TaskHead& head : found.going_on) {
    if (head.turn_state == task::TurnState::queued) turns_.schedule(head);
  }"""),
    ],
    # A child's result is lost if the turn that it woke waits for a slot.
    "deaf_in_the_queue": [
        ("engine/decide/kinds/settle_child.h", """head.turn_state == task::TurnState::none || head.turn_message""",
         """head.turn_state != task::TurnState::waiting || head.turn_message"""),
        ("engine/turns/turn_runner.cpp", "", ""),
    ],
    # A plan that begins its turn again does not delegate again the children that were not made.
    "plan_forgets_children": [
        ("agents/plan/workflow_executor.cpp", """    if (turn_.attempt > 1 || is_folded_anew)""",
         """    if (false && is_folded_anew)"""),
    ],
    # A plan does not record which results it has taken in.
    "plan_takes_twice": [
        ("agents/plan/workflow_executor.cpp", """ExecutorState{std::move(state), std::move(taken_)}""",
         """ExecutorState{std::move(state), {}}"""),
    ],
    # A plan loses the records of a turn that begins no step and does not end the plan.
    "plan_drops_records": [
        ("agents/plan/workflow_executor.cpp", """    if (step.records.empty() && taken_.empty()) return;""",
         """    if (step.records.empty() || (step.begins.empty() && !step.end)) return;"""),
    ],
    # A plan undoes its steps in the order in which they were done.
    "plan_undoes_forwards": [
        ("agents/plan/plan_run.cpp", """facts_.done().rbegin(); path != facts_.done().rend();""",
         """facts_.done().begin(); path != facts_.done().end();"""),
    ],
    # A child is canceled before the log says that its plan does not need it.
    "cancels_before_its_record": [
        ("engine/turns/running_turn.cpp", """!state.posted && state.output.empty()""", """true"""),
    ],
    # A child's cancel is forgotten if the store refuses it.
    "cancel_is_lost": [
        ("engine/sends/cancels.cpp", """    if (is_over) return;
    background_""", """    if (is_over || child.value != 0) return;
    background_"""),
    ],
    # The fence of an output compares only the turn, not the attempt.
    "fence_without_attempt": [
        ("engine/decide/kinds/turn_output.cpp", """  is_lost = is_over || !is_running(now.head, turn, attempt);""",
         """  is_lost = is_over || !is_running(now.head, turn, now.head.attempt);"""),
        ("task/apply.cpp", """ || change.fence->attempt != head.attempt)""", """)"""),
    ],
    # A node that was declared dead can still write.
    "no_lane_row": [
        ("simulation/shared_store.cpp", """    if (is_retired_ || shared_.is_dead(node_)) return not_now("this node is dead");
    if (shared_.has_outage())""", """    if (is_retired_) return not_now("this node is dead");
    if (shared_.has_outage())"""),
    ],
    # A node that starts recovers the turns of all nodes.
    "no_owner_filter": [
        ("simulation/shared_store.cpp", """return owner_of(head.key) != node_;""",
         """return false && owner_of(head.key) != node_;"""),
    ],
    # A node adds its own changes to its copy of the log, even if other nodes have written in between.
    "no_gap_check": [
        ("engine/live/live_tasks.cpp", """live.log && live.log->head.last_event.value == before;""", """live.log && before >= 0;"""),
        ("engine/live/live_tasks.cpp", """    if (live.log && live.log->head.last_event < last) dropped""", """    if (false) dropped"""),
    ],
    # A child's question that is answered is asked again.
    "question_stays_open": [
        ("engine/decide/rules/child_questions.cpp", """    if (any && std::ranges::any_of""", """    if (shows && any && std::ranges::any_of"""),
    ],
}


NODES = {"fence_without_attempt": 3, "no_lane_row": 3, "no_owner_filter": 3, "no_gap_check": 3, "question_stays_open": 3}


def main(words):
    if words == ["--list"]:
        print("\n".join(MUTANTS))
        return 0
    if len(words) == 2 and words[0] == "--sources":
        print("\n".join(sorted({file for file, _, _ in MUTANTS[words[1]] if file.endswith(".cpp")})))
        return 0
    if len(words) == 2 and words[0] == "--nodes":
        print(NODES.get(words[1], 1))
        return 0
    name, source, folder = words[0], pathlib.Path(words[1]), pathlib.Path(words[2])
    texts = {}
    for file, old, new in MUTANTS[name]:
        root = source.parent / "tests" if file.startswith("simulation/") else source
        text = texts.get(file) or (root / file).read_text(encoding="utf-8")
        if old and text.count(old) != 1:
            sys.exit(f"mutant {name}: {file} does not have once what is to be changed:\n{old}")
        texts[file] = text.replace(old, new) if old else text
    for file, text in texts.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
