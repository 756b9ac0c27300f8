#include "task/state.h"

#include <array>

namespace baton::task {
namespace {

struct Row {
  State state;
  std::string_view name;
  // The states that may follow this one, as bits.
  unsigned next;
};

constexpr unsigned bit(State state) {
  return 1u << static_cast<unsigned>(state);
}
constexpr unsigned kEnds =
    bit(State::completed) | bit(State::canceled) | bit(State::failed) | bit(State::rejected);
constexpr unsigned kWaits = bit(State::input_required) | bit(State::auth_required);

constexpr std::array kTable{
    Row{State::submitted, "submitted", bit(State::working) | kWaits | kEnds},
    Row{State::working, "working", bit(State::working) | bit(State::submitted) | kWaits | kEnds},
    Row{State::input_required, "input-required", bit(State::submitted) | bit(State::working) | kEnds},
    Row{State::auth_required, "auth-required", bit(State::submitted) | bit(State::working) | kEnds},
    Row{State::completed, "completed", 0},
    Row{State::canceled, "canceled", 0},
    Row{State::failed, "failed", 0},
    Row{State::rejected, "rejected", 0},
};

constexpr const Row& row(State state) {
  return kTable[static_cast<std::size_t>(state)];
}

}  // namespace

bool is_terminal(State state) {
  return (kEnds & bit(state)) != 0;
}

bool is_waiting(State state) {
  return (kWaits & bit(state)) != 0;
}

bool may_move(State from, State to) {
  return (row(from).next & bit(to)) != 0;
}

std::string_view name_of(State state) {
  return row(state).name;
}

std::optional<State> state_named(std::string_view name) {
  for (const Row& candidate : kTable) {
    if (candidate.name == name) return candidate.state;
  }
  return std::nullopt;
}

}  // namespace baton::task
