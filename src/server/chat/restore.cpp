#include "server/chat/restore.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "protocol/chat/transcript.h"

namespace baton::server::chat {
namespace {

using base::fail;
using protocol::chat::Transcript;

constexpr int kReplayedTasksMax = 50;
constexpr std::int64_t kEventsMax = 20'000;  // of a task, the newest
constexpr std::size_t kBytesMax = 4 << 20;
constexpr int kReplayPage = 128;

base::Result<std::vector<Transcript::Entry>> read_task(const engine::TaskService& tasks,
                                                       const task::TaskHead& head) {
  Transcript transcript(head.id);
  task::EventNumber position{std::max<std::int64_t>(head.last_event.value - kEventsMax, 0)};
  while (position < head.last_event) {
    const auto events = tasks.events(head.key, position, kReplayPage);
    if (!events) return fail(events.error());
    if (events->empty()) break;
    for (const task::Event& event : *events) transcript.add(event);
    position = events->back().number;
  }
  return transcript.take();
}

std::size_t weight_of(const std::vector<Transcript::Entry>& entries) {
  std::size_t weight = 0;
  for (const Transcript::Entry& entry : entries) weight += task::weight_of(entry.message);
  return weight;
}

// The newest messages within kBytesMax, at least one.
std::vector<task::Message> newest_of(std::vector<Transcript::Entry> entries) {
  std::size_t weight = 0;
  auto first = entries.end();
  while (first != entries.begin()) {
    weight += task::weight_of(std::prev(first)->message);
    if (weight > kBytesMax && first != entries.end()) break;
    --first;
  }
  std::vector<task::Message> messages;
  for (auto entry = first; entry != entries.end(); ++entry) messages.push_back(std::move(entry->message));
  return messages;
}

}  // namespace

base::Result<Said> said_in(const engine::TaskService& tasks, const task::Caller& caller,
                           const task::AgentName& agent, const task::ContextId& context) {
  task::ListFilter newest;
  newest.caller = caller;
  newest.agent = agent;
  newest.context = context;
  newest.limit = kReplayedTasksMax;
  auto page = tasks.heads(newest);
  if (!page) return fail(page.error());
  Said said;
  std::size_t all = 0, largest = 0;
  for (task::TaskHead& head : page->heads) {
    if (head.parent) continue;  // what the agent delegated to itself was said to nobody
    all += head.bytes;
    largest = std::max(largest, head.bytes);
    said.tasks.push_back(std::move(head));
  }
  said.bytes = std::min(all, kBytesMax + largest);
  return said;
}

base::Result<std::vector<task::Message>> messages_of(const engine::TaskService& tasks,
                                                     const Said& read_from) {
  std::map<task::TaskKey, std::vector<Transcript::Entry>> by_task;
  std::size_t weight = 0;
  for (const task::TaskHead& head : read_from.tasks) {
    if (weight > kBytesMax) break;
    auto read = read_task(tasks, head);
    if (!read) return fail(read.error());
    weight += weight_of(*read);
    by_task.emplace(head.key, std::move(*read));
  }
  std::vector<Transcript::Entry> entries;
  for (auto& [key, said] : by_task) std::ranges::move(said, std::back_inserter(entries));
  // Sort by time: runs of several tasks may overlap, and a task may continue long after it began.
  std::ranges::stable_sort(entries, {}, &Transcript::Entry::at);
  return newest_of(std::move(entries));
}

base::Result<std::vector<task::Message>> messages_in(const engine::TaskService& tasks,
                                                     const task::Caller& caller, const task::AgentName& agent,
                                                     const task::ContextId& context) {
  const auto said = said_in(tasks, caller, agent, context);
  if (!said) return fail(said.error());
  return messages_of(tasks, *said);
}

}  // namespace baton::server::chat
