// RandomChanges: random changes to a few tasks, valid or not, as concurrent writers would make them. The same
// seed gives the same changes.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"

namespace baton::test {

class RandomChanges {
 public:
  explicit RandomChanges(unsigned seed) : random_(seed) {}

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool one_in(int count) { return up_to(count - 1) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& some) {
    return some[static_cast<std::size_t>(up_to(static_cast<int>(some.size()) - 1))];
  }

  // Returns a change that creates a task, or changes one of `heads`.
  task::Change draw(const std::vector<task::TaskHead>& heads) {
    const bool is_new = heads.empty() || one_in(heads.size() < 8 ? 4 : 30);
    task::Change change = is_new ? creation(heads) : of(one_of(heads));
    for (int i = up_to(3); i > 0; --i) change.events.push_back(event());
    change.reopen = one_in(3);
    change.shows = one_in(8);
    if (one_in(4)) change.request = request();
    if (change.request && !one_in(8)) change.events.push_back(task::MessageAdded{said()});
    if (one_in(4)) change.send = task::SendDigest{static_cast<std::uint64_t>(up_to(5)), 7};
    if (one_in(4)) {
      change.push = config();
      change.push_configs_max = 2;
    }
    if (one_in(12)) change.drop_push = task::PushConfigId{one_of(names("p", 3))};
    return change;
  }

 private:
  static std::vector<std::string> names(const std::string& first, int count) {
    std::vector<std::string> made;
    for (int i = 0; i < count; ++i) made.push_back(first + std::to_string(i));
    return made;
  }

  task::Change creation(const std::vector<task::TaskHead>& heads) {
    task::Change change;
    task::NewTask& task = change.create.emplace();
    task.agent = {one_of(names("agent", 2))};
    task.caller = {one_of<std::string>({"ann",
                                        "tenant\x1f"
                                        "ann",
                                        "bob"})};
    task.id = {one_of(names("task", 12))};
    task.context = {one_of(names("context", 2))};
    if (one_in(2)) {
      task.id = {base::make_uuid()};
      task.context = store::own_context(task.id);
      task.fresh_id = task.fresh_context = true;
    } else if (!heads.empty() && one_in(2)) {
      task.context = one_of(heads).context;
    }
    if (!heads.empty() && one_in(3)) task.parent = one_of(heads).key;
    if (one_in(20)) task.parent = {9'999};
    if (one_in(2)) task.metadata = {R"({"k": 1})"};
    task.origin = static_cast<task::ProtocolVersion>(up_to(4));
    task.hidden = one_in(4);
    if (one_in(2)) change.turn = turn({});
    return change;
  }

  task::Change of(const task::TaskHead& head) {
    task::Change change;
    change.task = head.key;
    if (one_in(5)) change.expected = task::Version{head.version.value - up_to(1)};
    if (one_in(5)) change.fence = task::Change::Fence{{head.turn.value - up_to(1)}, head.attempt - up_to(1)};
    if (one_in(2)) change.turn = turn(head);
    return change;
  }

  task::TurnUpdate turn(const task::TaskHead& head) {
    task::TurnUpdate update;
    if (one_in(2)) update.turn = task::TurnNumber{head.turn.value + 1};
    if (one_in(2)) update.state = static_cast<task::TurnState>(up_to(3));
    if (one_in(2)) update.waits = {up_to(3) - 1, one_in(2), {}};
    if (one_in(3)) update.waits.until = base::from_ms(up_to(1000));
    if (one_in(2)) update.attempt = up_to(3);
    if (one_in(3)) update.message = task::EventNumber{up_to(static_cast<int>(head.last_event.value))};
    update.message_is_new = one_in(4);
    if (one_in(2)) update.waiting_messages = up_to(3);
    if (one_in(4)) update.cancel_requested = one_in(2);
    if (one_in(4)) update.ask = one_of(names("ask", 3));
    return update;
  }

  task::RequestData request() {
    task::RequestData made;
    if (one_in(2)) made.metadata = {"[1, 2]"};
    if (one_in(2)) made.tools = {"[]"};
    if (one_in(2)) made.client_state = {"null"};
    if (one_in(2)) made.extensions = {"urn:a", "urn:\"b\""};
    if (one_in(2)) made.history.emplace();
    if (one_in(2)) made.trace = one_of(names("00-trace-", 3));
    if (made.history && one_in(2)) made.history->push_back(said());
    return made;
  }

  task::PushConfig config() {
    task::PushConfig made;
    made.id = {one_of(names("p", 3))};
    made.url = one_of(names("http://example.org/", 9));
    made.schemes = {"Bearer"};
    made.version = static_cast<task::ProtocolVersion>(up_to(4));
    return made;
  }

  task::Message said() {
    return message(one_in(2) ? task::Role::user : task::Role::agent, one_of(names("m", 99)), text());
  }

  // Returns a text that is sometimes so large that the SQLite store no longer reads the log as a whole.
  std::string text() { return std::string(one_in(60) ? 20'000u : 3u, static_cast<char>('a' + up_to(25))); }

  task::EventBody event() {
    const std::string id = one_of(names("r", 4));
    switch (up_to(13)) {
      case 13:
        return task::Subagent{id,         "n", static_cast<task::Subagent::Phase>(up_to(5)), {}, "d",
                              {up_to(3)}, {2}};
      case 0:
      case 1:
      case 2:
        return status();
      case 3:
      case 4: {
        task::MessageAdded added{said()};
        if (one_in(4)) added.reply_parts = up_to(2);
        return added;
      }
      case 5:
        return task::Withdrawn{{{id}, {one_of(names("r", 4))}}};
      case 6:
        return chunk(id, text(), one_in(2));
      case 7:
        return task::ToolCall{one_of(names("call", 5)), "tool", {"{}"}, one_in(2)};
      case 8:
        return task::ReasoningDelta{{id}, text(), one_in(2), one_in(2)};
      default:
        return task::TextDelta{{id}, 0, text(), one_in(4), one_in(4), one_in(5)};
    }
  }

  task::StatusChanged status() {
    task::StatusChanged made;
    made.status.state = static_cast<task::State>(one_in(3) ? up_to(7) : up_to(2));
    if (one_in(2)) made.status.message = said();
    if (one_in(6)) made.status.reply_parts = up_to(2);
    if (one_in(4)) made.status.at = base::from_ms(1'699'999'999'000 + 500 * up_to(6));
    if (one_in(4)) made.ask = one_of(names("ask", 3));
    return made;
  }

  std::mt19937 random_;
};

}  // namespace baton::test
