#include "engine/shared/message_checks.h"

#include <algorithm>
#include <string>

#include "agents/cards/catalogue.h"
#include "base/text.h"

namespace baton::engine {
namespace {

// The media type of a mode. "text" and "text/plain" are the same mode.
std::string type_of(std::string_view mode) {
  std::string type = base::essence_of(mode);
  return type == "text" ? "text/plain" : type;
}

// Whether a media type is this range, or is in it: "image/png" is in "image/*" and "*/*".
bool is_in(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == type) return true;
  return range.ends_with("/*") && type.starts_with(range.substr(0, range.size() - 1));
}

}  // namespace
namespace {
constexpr char kUrlNotAllowed[] = "the setting outbound.delegate_urls does not allow this agent's URL";
}

using base::ErrorCode;
using base::fail;

base::Result<void> check_size(const task::Submission& submission, std::size_t bytes, std::size_t bytes_max) {
  if (bytes + task::weight_of(submission.message) <= bytes_max) return {};
  return fail(ErrorCode::too_large, "a task may hold at most " + std::to_string(bytes_max) +
                                        " bytes: send this message to a new task");
}

base::Result<void> check_parts(const task::Submission& submission, const EngineOptions& options) {
  const auto has_too_many = [&](const task::Message& message) {
    return message.parts.size() > static_cast<std::size_t>(options.parts_max);
  };
  const auto& history = submission.history;
  if (submission.message.parts.empty())
    return fail(ErrorCode::invalid_argument, "message.parts: must not be empty");
  if (has_too_many(submission.message) || (history && std::ranges::any_of(*history, has_too_many))) {
    return fail(ErrorCode::too_large,
                "message.parts: a message may have at most " + base::counted(options.parts_max, "part"));
  }
  for (const task::Part& part : submission.message.parts) {
    if (task::content_size(part) > options.part_bytes_max) {
      return fail(ErrorCode::too_large,
                  "a part is larger than " + std::to_string(options.part_bytes_max) + " bytes");
    }
  }
  return {};
}

std::string not_served(const task::AgentName& agent) {
  return agents::is_agent_url(agent.value) ? kUrlNotAllowed : "agent not found: \"" + agent.value + "\"";
}

std::string no_longer_served(const task::AgentName& agent) {
  return agents::is_agent_url(agent.value) ? kUrlNotAllowed : "this agent is no longer served";
}

std::string hop_of(const std::string& node, const task::AgentName& agent) {
  return node + "/" + agent.value;
}

base::Result<void> check_hops(const task::Submission& submission, const std::string& node,
                              std::size_t hops_max) {
  const std::vector<std::string>& hops = submission.hops;
  if (hops.size() > hops_max) {
    return fail(ErrorCode::invalid_argument,
                "the request was passed on through more than " + base::counted(hops_max, "server"));
  }
  if (std::ranges::find(hops, hop_of(node, submission.agent)) == hops.end()) return {};
  return fail(ErrorCode::invalid_argument,
              "the request loops: agent \"" + submission.agent.value + "\" sent it, by way of other servers");
}

base::Result<void> check_task_accepts(const task::Submission& submission, const task::TaskHead& head,
                                      const EngineOptions& options) {
  const bool other_context = !submission.context.empty() && submission.context != head.context;
  if (other_context && submission.when_context_differs == task::WhenContextDiffers::refuse) {
    return fail(ErrorCode::invalid_argument, "message.contextId: the task belongs to another context");
  }
  // Only clients that name their tasks know that one may be reopened; for others its end is final.
  const bool reopens = submission.when_ended == task::WhenEnded::reopen && submission.origin == head.origin;
  if (task::is_terminal(head.state) && !reopens) {
    return fail(ErrorCode::unsupported, "the task has ended");
  }
  if (submission.budget && !task::is_terminal(head.state)) {
    return fail(ErrorCode::invalid_argument, "only the message that creates a task can set a budget");
  }
  if (!submission.ask.empty() && !(task::is_waiting(head.state) && head.ask == submission.ask)) {
    return fail(ErrorCode::conflict, "the task is no longer waiting for an answer to " +
                                         std::string(base::beginning_of(submission.ask, 200)));
  }
  if (head.message_count >= options.history_max) {
    return fail(
        ErrorCode::too_large,
        "a task may have at most " + base::counted(options.history_max, "message") + ": start a new task");
  }
  return check_size(submission, head.bytes, options.task_bytes_max);
}

bool is_delayed(const task::TaskHead& head) {
  return head.state == task::State::submitted && head.turn_state == task::TurnState::waiting;
}

bool any_mode_matches(const std::vector<std::string>& wanted, const std::vector<std::string>& offered) {
  if (wanted.empty() || offered.empty()) return true;
  std::vector<std::string> types;
  for (const std::string& mode : offered) types.push_back(type_of(mode));
  return std::ranges::any_of(wanted, [&](const std::string& mode) {
    const std::string want = type_of(mode);
    return std::ranges::any_of(
        types, [&](const std::string& type) { return is_in(want, type) || is_in(type, want); });
  });
}

}  // namespace baton::engine
