// The states of a task and the legal moves between them (A2A 1.0 TaskState).
#pragma once

#include <optional>
#include <string_view>

namespace baton::task {

enum class State {
  submitted,
  working,
  input_required,
  auth_required,
  completed,
  canceled,
  failed,
  rejected,
};

// Completed, canceled, failed, rejected: the task has ended.
bool is_terminal(State state);

// Input-required and auth-required: the task waits for its caller.
bool is_waiting(State state);

// Terminal or waiting: nothing more happens until the caller or an operator acts. Calls that wait for the
// task return.
inline bool is_stopped(State state) {
  return is_terminal(state) || is_waiting(state);
}

// Whether a task may go from one state to the other. Leaving a terminal state is not a move but a reopening
// (see may_reopen). Working to working is a move: progress.
bool may_move(State from, State to);

// Whether a client may reopen a task in this state by sending to it (A2A 0.1: protocol/a2a/README.md, 4).
inline bool may_reopen(State state) {
  return is_terminal(state);
}

// Names such as "input-required", used in the store, in logs and on the command line.
std::string_view name_of(State state);
std::optional<State> state_named(std::string_view name);

}  // namespace baton::task
