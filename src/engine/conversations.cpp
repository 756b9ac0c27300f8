#include "engine/conversations.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "base/text.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kHeadsAtOnce = 100;
// The maximum number of tasks looked at for one page. A context with very many tasks spans several pages.
constexpr int kHeadsMax = 2'000;
constexpr std::size_t kOpeningBytesMax = 16 << 20;  // of the messages that are read for one page
constexpr std::size_t kWordsMax = 80;               // code points of a title made from a message
constexpr std::size_t kWordsBytesMax = 4 << 10;     // bytes of the message that are read for it

// The first words of a message, or the name of its first file.
std::string words_of(const task::Message& message) {
  std::string text, file;
  for (const task::Part& part : message.parts) {
    if (part.kind == task::Part::Kind::text && text.size() < kWordsBytesMax)
      text.append(base::beginning_of(part.content, kWordsBytesMax)).append(" ");
    if (file.empty()) file = part.filename;
  }
  const std::string line = base::one_line(text);
  return base::shortened(line.empty() ? base::one_line(file) : line, kWordsMax);
}

Conversation described(const task::TaskHead& newest, const store::Opening& opening) {
  Conversation shown{newest.context, opening.title, opening.at, newest.status_at, newest.state};
  if (shown.title.empty() && opening.message) shown.title = words_of(*opening.message);
  return shown;
}

task::ListFilter tasks_of(const task::Caller& caller, const task::AgentName& agent) {
  task::ListFilter filter;
  filter.caller = caller;
  filter.agent = agent;
  return filter;
}

task::ListPosition position_of(const task::TaskHead& head) {
  return {head.status_at, head.id};
}

// Returns the result of removing a conversation that existed.
Result<void> gone_by(const Result<Erasure::Erased>& erased) {
  const bool is_gone = erased ? erased->left == 0 : erased.error().code == ErrorCode::not_found;
  if (is_gone) return {};
  if (!erased && erased.error().code != ErrorCode::conflict) return fail(erased.error());
  return fail(ErrorCode::conflict, "the conversation still has running work: delete it again in a moment");
}

}  // namespace

// Looks for one more conversation than the page shows, to know whether another page follows.
Result<Conversations::Page> Conversations::list(const task::Caller& caller, const task::AgentName& agent,
                                                std::optional<task::ListPosition> after, int limit) const {
  Page page;
  std::set<task::ContextId> seen;
  std::size_t bytes = 0;
  task::ListFilter filter = tasks_of(caller, agent);
  filter.limit = kHeadsAtOnce;
  filter.after = std::move(after);
  for (int looked_at = 0; looked_at < kHeadsMax; looked_at += kHeadsAtOnce) {
    const auto tasks = reader_.list(filter);
    if (!tasks) return fail(tasks.error());
    for (const task::TaskHead& head : tasks->heads) {
      const bool is_full = std::ssize(page.conversations) >= limit || bytes >= kOpeningBytesMax;
      if (!is_full) page.next = position_of(head);
      if (head.parent || !seen.insert(head.context).second) continue;
      const task::ContextRef context{caller, agent, head.context};
      const auto newest = newest_in(context);
      if (!newest) return fail(newest.error());
      if (!*newest || (*newest)->key != head.key) continue;
      if (is_full) return page;
      const auto opening = reader_.opening(context);
      if (!opening) return fail(opening.error());
      if (opening->message) bytes += task::weight_of(*opening->message);
      page.conversations.push_back(described(head, *opening));
    }
    if (std::ssize(tasks->heads) < kHeadsAtOnce) {
      page.next.reset();
      return page;
    }
    filter.after = position_of(tasks->heads.back());
  }
  return page;
}

// Returns the newest visible task of the context that was not delegated.
Result<std::optional<task::TaskHead>> Conversations::newest_in(const task::ContextRef& ref) const {
  task::ListFilter filter = tasks_of(ref.caller, ref.agent);
  filter.context = ref.id;
  // Usually the first task is the one. Others precede it only if callers send messages in the context of a
  // child task.
  for (filter.limit = 1;; filter.limit = kHeadsAtOnce) {
    auto tasks = reader_.list(filter);
    if (!tasks) return fail(std::move(tasks.error()));
    const auto said = std::ranges::find_if(tasks->heads, [](const auto& head) { return !head.parent; });
    if (said != tasks->heads.end()) return std::move(*said);
    if (std::ssize(tasks->heads) < filter.limit) return std::nullopt;
    filter.after = position_of(tasks->heads.back());
  }
}

Result<task::TaskHead> Conversations::head_of(const task::ContextRef& ref) const {
  if (ref.id.empty()) return fail(ErrorCode::not_found, "conversation not found");
  auto newest = newest_in(ref);
  if (!newest) return fail(std::move(newest.error()));
  if (!*newest) return fail(ErrorCode::not_found, "conversation not found");
  return std::move(**newest);
}

Result<Conversation> Conversations::find(const task::ContextRef& ref) const {
  const auto head = head_of(ref);
  if (!head) return fail(head.error());
  const auto opening = reader_.opening(ref);
  if (!opening) return fail(opening.error());
  return described(*head, *opening);
}

void Conversations::rename(const task::ContextRef& ref, const std::optional<std::string>& title,
                           Renamed done) {
  const std::string line = title ? base::one_line(*title) : std::string();
  const bool fits = !title || (!line.empty() && base::length_of(line) <= kTitleMax);
  if (!fits) {
    return done(fail(ErrorCode::invalid_argument,
                     "title: must have 1 to " + std::to_string(kTitleMax) + " characters"));
  }
  const auto head = head_of(ref);
  if (!head) return done(fail(head.error()));
  auto opening = reader_.opening(ref);
  if (!opening) return done(fail(std::move(opening.error())));
  opening->title = line;
  inbox_.write([this, ref, line] { return store_.entitle(ref, line); },
               [done = std::move(done), renamed = described(*head, *opening)](base::Result<void> written) {
                 if (!written) return done(fail(std::move(written.error())));
                 done(renamed);
               });
}

// Cancels only tasks that have no parent or outlive it: other children end with their parents, which may have
// something to undo first. Calls `then` when all have ended or `patience` has passed.
void Conversations::end_all(const std::vector<task::TaskHead>& heads, std::chrono::milliseconds patience,
                            const std::function<void()>& then) {
  const auto left = std::make_shared<std::atomic<std::size_t>>(1);
  const auto one_ended = [left, then] {
    if (left->fetch_sub(1) == 1) then();
  };
  for (const task::TaskHead& head : heads) {
    if (store::has_ended(head)) continue;
    left->fetch_add(1);
    if (!head.parent || head.detached) cancels_.cancel(head.key, [](const base::Result<task::TaskKey>&) {});
    reader_.await_stop(head.key, head.last_event, patience, [one_ended](const auto&) { one_ended(); });
  }
  one_ended();
}

void Conversations::erase(const task::ContextRef& ref, Erasure& erasure, std::chrono::milliseconds patience,
                          Gone done) {
  if (const auto head = head_of(ref); !head) return done(fail(head.error()));
  const auto heads = erasure.in_context(ref);
  if (!heads) return done(fail(heads.error()));
  end_all(*heads, patience, [ref, &erasure, done = std::move(done)] {
    const Actor caller{std::string(task::account_of(ref.caller)), "the caller deleted the conversation"};
    erasure.erase_context(ref, caller, [ref, caller, &erasure, done](base::Result<Erasure::Erased> erased) {
      if (!erased || erased->left == 0) return done(gone_by(erased));
      // The tasks left have begun again, or another deletion was quicker. Only a second try tells which.
      erasure.erase_context(ref, caller, [done](base::Result<Erasure::Erased> rest) { done(gone_by(rest)); });
    });
  });
}

}  // namespace baton::engine
