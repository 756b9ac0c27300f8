#include "server/show/task_tree.h"

#include <algorithm>

#include "agents/plan/plan_facts.h"
#include "base/text.h"
#include "json/writer.h"

namespace baton::server {
namespace {

using Phase = task::Subagent::Phase;

constexpr std::size_t kSlice = 100;
constexpr int kLogPage = 256;
constexpr std::size_t kErrorMax = 500;

std::string shortened(const std::string& text) {
  const std::string_view beginning = base::beginning_of(text, kErrorMax);
  return std::string(beginning) + (beginning.size() < text.size() ? "…" : "");
}

std::string_view kind_of(const agents::Agent* agent) {
  using Kind = agents::AgentSettings::Kind;
  if (agent == nullptr) return {};
  if (agent->settings.executor == Kind::workflow) return "plan";
  if (agent->settings.executor == Kind::a2a) return "remote";
  return agent->settings.executor == Kind::openai ? "model" : "agent";
}

// Whether this is one of Baton's internal agents, which callers cannot name: they ask a plan's questions.
bool is_own(const std::string& agent) {
  return agent.starts_with('~');
}

}  // namespace

TaskTree::TaskTree(const Services& services, const task::TaskHead& root, const Limits& limits)
    : services_(services), caller_(root.caller), limits_(limits) {
  nodes_.emplace_back().key = root.key;
  seen_.insert(root.key);
}

base::Result<bool> TaskTree::read_some() {
  for (std::size_t count = 0; count < kSlice && next_ < nodes_.size(); ++count) {
    if (const auto good = read(next_++); !good) return base::fail(good.error());
  }
  return next_ == nodes_.size();
}

void TaskTree::cut(Node& node, std::string_view why) {
  node.is_left_out = true;
  cut_ = why;
}

void TaskTree::describe(Node& node, const task::TaskHead& head) const {
  node.id = head.id.value;
  node.state = task::name_of(head.state);
  if (is_own(head.agent.value)) {
    node.kind = "question";
  } else {
    node.agent = head.agent.value;
    node.kind = kind_of(services_.catalogue.find(head.agent));
  }
  node.tokens = head.tokens;
  if (node.attempt == 0) node.attempt = head.attempt;
  if (task::is_terminal(head.state)) node.ended = head.status_at;
}

base::Result<void> TaskTree::read(std::size_t at) {
  if (!nodes_[at].key) return {};
  const auto head = services_.engine.reader().head(nodes_[at].key);
  // Deleted meanwhile: its parent's log tells what is known.
  if (!head && head.error().code == base::ErrorCode::task_not_found) return {};
  if (!head) return base::fail(head.error());
  if (head->caller != caller_) return {};
  describe(nodes_[at], *head);
  if (bytes_ + head->bytes > limits_.bytes && at > 0) {
    cut(nodes_[at], "size");
    return {};
  }
  bytes_ += head->bytes;
  return read_log(at, *head);
}

base::Result<void> TaskTree::read_log(std::size_t at, const task::TaskHead& head) {
  children_.clear();
  for (task::EventNumber position; position < head.last_event;) {
    const auto events = services_.engine.reader().events(head.key, position, kLogPage);
    if (!events) return base::fail(events.error());
    if (events->empty()) break;
    if (position.value == 0) {
      Node& node = nodes_[at];
      node.begun = events->front().at;
      // The clock may have been set back meanwhile.
      if (node.ended != base::Timestamp{}) node.ended = std::max(node.ended, node.begun);
    }
    position = events->back().number;
    for (const task::Event& event : *events) {
      if (const auto* child = std::get_if<task::Subagent>(&event.body)) add(at, *child);
    }
  }
  return {};
}

void TaskTree::add(std::size_t at, const task::Subagent& event) {
  if (event.phase == Phase::finished || event.phase == Phase::failed) {
    const auto known = children_.find(event.id);
    if (known == children_.end()) return;
    Node& child = nodes_[known->second];
    child.state = task::name_of(event.phase == Phase::failed ? task::State::failed : task::State::completed);
    child.error = shortened(event.error);
    child.tokens = event.tokens;
    return;
  }
  if (event.phase != Phase::started && event.phase != Phase::answered) return;
  if (event.task && !seen_.insert(event.task).second) return;
  if (nodes_.size() >= limits_.tasks) return cut(nodes_[at], "tasks");
  if (nodes_[at].depth + 1 >= limits_.depth) return cut(nodes_[at], "depth");
  Node child;
  child.key = event.task;
  child.depth = nodes_[at].depth + 1;
  child.label = event.name;
  child.state = task::name_of(task::State::working);
  if (nodes_[at].kind == "plan") child.attempt = agents::parse_call(event.call).attempt;
  children_[event.id] = nodes_.size();
  nodes_[at].children.push_back(nodes_.size());
  nodes_.push_back(std::move(child));
}

void TaskTree::write(json::Writer& out, const Node& node, Keys keys) const {
  out.object([&] {
    if (keys == Keys::shown && node.key) out.member("key", std::to_string(node.key.value));
    out.optional("id", node.id).optional("agent", node.agent).optional("kind", node.kind);
    out.optional("label", node.label).member("state", node.state);
    if (node.attempt > 0) out.member("attempt", node.attempt);
    if (node.begun != base::Timestamp{}) out.member("begunAt", base::to_rfc3339(node.begun));
    if (node.ended != base::Timestamp{}) out.member("endedAt", base::to_rfc3339(node.ended));
    if (node.tokens > 0) out.member("tokens", node.tokens);
    out.optional("error", node.error);
    if (node.is_left_out) out.member("childrenLeftOut", true);
    if (node.children.empty()) return;
    out.key("children").each(node.children, [&](std::size_t child) { write(out, nodes_[child], keys); });
  });
}

std::string TaskTree::to_json(base::Timestamp now, Keys keys) const {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(now)).member("tasks", std::ssize(nodes_));
    out.optional("cut", cut_);
    out.key("root");
    write(out, nodes_.front(), keys);
  });
  return text;
}

}  // namespace baton::server
