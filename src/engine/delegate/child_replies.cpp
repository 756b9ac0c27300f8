#include "engine/delegate/child_replies.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/decide/kinds/show_replies.h"

namespace baton::engine {
namespace {

constexpr int kPage = 1'000;                        // events read at once
constexpr std::chrono::milliseconds kTurnTime{50};  // after which a running turn of the parent may be over

using Replies = std::vector<agents::SaidReply>;

bool is_reply(const task::EventBody& body) {
  return std::holds_alternative<task::TextDelta>(body) || std::holds_alternative<task::Withdrawn>(body);
}

task::TextDelta withdrawal_of(const task::ArtifactId& reply, bool in_status) {
  task::TextDelta piece;
  piece.reply = reply;
  piece.first = piece.last = true;
  piece.in_status = in_status;
  return piece;
}

void add_to(Replies& replies, const task::EventBody& body) {
  if (const auto* piece = std::get_if<task::TextDelta>(&body)) add(replies, *piece);
  if (const auto* withdrawn = std::get_if<task::Withdrawn>(&body)) drop(replies, *withdrawn);
}

// Adds a piece to the others, joined with the last one if that is of the same reply.
void put(std::vector<task::TextDelta>& pieces, task::TextDelta piece) {
  const bool joins =
      !pieces.empty() && pieces.back().reply == piece.reply && !piece.first && !pieces.back().last;
  if (!joins) return pieces.push_back(std::move(piece));
  pieces.back().text += piece.text;
  pieces.back().last = piece.last;
}

}  // namespace

struct ChildReplies::Shown {
  task::TaskKey parent, child;
  task::EventNumber message;
  std::string ids_begin;   // agents::Turn::said_ids
  bool in_status = false;  // see task::TextDelta
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> read_to{0};         // the child's events up to here are shown, or are no replies
  LiveTasks::Subscription readers;              // the parent's
  base::Guarded<LiveTasks::Subscription> news;  // of the child, while the parent is read
  // One round at a time looks for news and shows them.
  struct Rounds {
    bool is_busy = false, again = false;
    std::vector<std::function<void()>> then;
  };
  base::Guarded<Rounds> rounds;
  // Of the round under way.
  task::EventNumber parent_last;  // the parent's last event, if `ids` are its replies; 0: compare the logs
  std::unordered_map<std::string, task::ArtifactId> ids;  // by those in the child

  // Adds what the parent's log needs for the child's event.
  void put_shown(std::vector<task::TextDelta>& pieces, const task::EventBody& body);
};

void ChildReplies::Shown::put_shown(std::vector<task::TextDelta>& pieces, const task::EventBody& body) {
  if (const auto* piece = std::get_if<task::TextDelta>(&body)) {
    task::TextDelta copy = *piece;
    copy.reply.value = ids_begin + std::to_string(piece->ordinal);
    copy.in_status = in_status;
    if (piece->first) ids[piece->reply.value] = copy.reply;
    return put(pieces, std::move(copy));
  }
  const auto* withdrawn = std::get_if<task::Withdrawn>(&body);
  if (withdrawn == nullptr) return;
  for (const task::ArtifactId& id : withdrawn->artifacts) {
    if (const auto known = ids.extract(id.value)) put(pieces, withdrawal_of(known.mapped(), in_status));
  }
}

void ChildReplies::begin(const task::TaskHead& parent, task::EventNumber message, task::TaskKey child) {
  const auto shown = std::make_shared<Shown>();
  shown->parent = parent.key;
  shown->child = child;
  shown->message = message;
  shown->ids_begin = shown_reply_ids(parent);
  shown->in_status = turns_.shows_replies_in_status(parent.agent);
  end(child);
  all_.with([&](All& all) {
    all.by_child[child] = shown;
    all.children.emplace(parent.key, child);
  });
  // Weak, because `shown` owns the subscription.
  shown->readers = live_.await_readers(parent.key, [this, weak = std::weak_ptr(shown)] {
    if (const auto one = weak.lock()) listen(one);
  });
  listen(shown);
}

void ChildReplies::end(task::TaskKey child) {
  if (const ShownPtr shown = find(child)) end(shown);
}

void ChildReplies::end(const ShownPtr& shown) {
  shown->is_over = true;
  all_.with([&](All& all) {
    const auto found = all.by_child.find(shown->child);
    if (found == all.by_child.end() || found->second != shown) return;
    all.by_child.erase(found);
    const auto [first, last] = all.children.equal_range(shown->parent);
    const auto one =
        std::find_if(first, last, [&](const auto& entry) { return entry.second == shown->child; });
    if (one != last) all.children.erase(one);
  });
}

void ChildReplies::end_all_of(task::TaskKey parent) {
  const auto children = all_.with([&](const All& all) {
    std::vector<task::TaskKey> found;
    const auto [first, last] = all.children.equal_range(parent);
    for (auto one = first; one != last; ++one) found.push_back(one->second);
    return found;
  });
  for (const task::TaskKey child : children) end(child);
}

ChildReplies::ShownPtr ChildReplies::find(task::TaskKey child) const {
  return all_.with([&](const All& all) {
    const auto found = all.by_child.find(child);
    return found == all.by_child.end() ? nullptr : found->second;
  });
}

void ChildReplies::catch_up(task::TaskKey child, std::function<void()> then) {
  const ShownPtr shown = find(child);
  if (!shown) return then();
  shown->rounds.with([&](auto& rounds) { rounds.then.push_back(std::move(then)); });
  wake(shown);
}

// Only this node knows its readers, so on a store that others share everything counts as read.
bool ChildReplies::is_read(const Shown& shown) const {
  return turns_.self() || live_.has_readers(shown.parent);
}

// Follows the child while the parent is read.
void ChildReplies::listen(const ShownPtr& shown) {
  if (shown->is_over || !is_read(*shown)) return;
  LiveTasks::Subscription news = live_.subscribe(shown->child, [this, weak = std::weak_ptr(shown)] {
    if (const auto one = weak.lock()) hear(one);
  });
  shown->news.with([&](auto& old) { std::swap(old, news); });
  hear(shown);
}

// The child's log has grown. What the child says with its end is left to the parent's turn.
void ChildReplies::hear(const ShownPtr& shown) {
  if (shown->is_over) return;
  if (!is_read(*shown)) {
    LiveTasks::Subscription dropped;
    shown->news.with([&](auto& news) { std::swap(news, dropped); });
    return listen(shown);  // a reader may just have come
  }
  const auto log = live_.log(shown->child);
  if (!log) return wake(shown);
  if (task::is_terminal(log->head.state)) return end(shown);
  const std::int64_t from = shown->read_to;
  for (auto event = log->events.rbegin(); event != log->events.rend(); ++event) {
    if ((*event)->number.value <= from) return;
    if (is_reply((*event)->body)) return wake(shown);
  }
  if (!log->whole) wake(shown);
}

void ChildReplies::wake(const ShownPtr& shown) {
  const bool begins = shown->rounds.with([](auto& rounds) {
    rounds.again = rounds.is_busy;
    return !std::exchange(rounds.is_busy, true);
  });
  if (begins) background_.run([this, shown] { look(shown); });
}

// A change of the child that is on its way is shown together with those before it; a child that has answered
// at once has then ended.
void ChildReplies::look(const ShownPtr& shown) {
  const auto go_on = [this, shown] { background_.run([this, shown] { choose(shown); }); };
  if (!live_.after_change(shown->child, go_on)) choose(shown);
}

void ChildReplies::choose(const ShownPtr& shown) {
  const auto child = reader_.head(shown->child);
  if (!child || task::is_terminal(child->state) || child->cancel_requested) end(shown);
  if (shown->is_over) return end_round(shown);
  auto pieces = shown->parent_last ? news_of(*shown, child->last_event) : compared(*shown);
  if (!pieces || pieces->empty()) return end_round(shown);
  post(shown, std::move(*pieces));
}

// What the parent's log lacks of the child's replies.
base::Result<ChildReplies::Pieces> ChildReplies::compared(Shown& shown) const {
  Replies said, there;
  task::EventNumber last = shown.message;
  while (true) {
    const auto page = reader_.committed_events(shown.parent, last, kPage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    for (const task::Event& event : *page) add_to(there, event.body);
    last = page->back().number;
  }
  std::int64_t read_to = 0;
  shown.ids.clear();
  while (true) {
    const auto page = reader_.events(shown.child, {read_to}, kPage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    Pieces pieces;
    for (const task::Event& event : *page) shown.put_shown(pieces, event.body);
    for (const task::TextDelta& piece : pieces) add(said, piece);
    read_to = page->back().number.value;
  }
  Pieces lacking;
  for (const agents::SaidReply& one : there) {
    const bool is_gone = one.id.value.starts_with(shown.ids_begin) &&
                         std::ranges::find(said, one.id, &agents::SaidReply::id) == said.end();
    if (is_gone) put(lacking, withdrawal_of(one.id, shown.in_status));
  }
  for (const agents::SaidReply& reply : said) {
    const auto known = std::ranges::find(there, reply.id, &agents::SaidReply::id);
    const bool goes_on = known != there.end() && reply.text.starts_with(known->text);
    if (goes_on && known->text.size() == reply.text.size() && known->is_open == reply.is_open) continue;
    task::TextDelta piece;
    piece.reply = reply.id;
    piece.text = goes_on ? reply.text.substr(known->text.size()) : reply.text;
    piece.first = !goes_on;
    piece.last = !reply.is_open;
    piece.in_status = shown.in_status;
    put(lacking, std::move(piece));
  }
  shown.parent_last = last;
  shown.read_to = read_to;
  return lacking;
}

// `last`: of the child.
base::Result<ChildReplies::Pieces> ChildReplies::news_of(Shown& shown, task::EventNumber last) const {
  const auto page = reader_.events(shown.child, {shown.read_to}, kPage);
  if (!page) return base::fail(page.error());
  Pieces pieces;
  for (const task::Event& event : *page) shown.put_shown(pieces, event.body);
  if (page->empty()) return pieces;
  shown.read_to = page->back().number.value;
  // A page may be shorter than the log.
  if (page->back().number < last) shown.rounds.with([](auto& rounds) { rounds.again = true; });
  return pieces;
}

void ChildReplies::post(const ShownPtr& shown, Pieces pieces) {
  const auto kind = std::make_shared<ShowReplies>();
  kind->task = shown->parent;
  kind->message = shown->message;
  kind->last_event = shown->parent_last;
  for (task::TextDelta& piece : pieces) kind->events.emplace_back(std::move(piece));
  kind->self = turns_.self();
  kind->task_bytes_max = settings_.task_bytes_max;
  kind->is_wanted = [shown] { return !shown->is_over; };
  Decision decision(kind);
  for (const task::EventBody& body : kind->events) decision.bytes += task::weight_of(body);
  decision.committed = [shown](const store::Committed& now) { shown->parent_last = now.head.last_event; };
  decision.done = [this, shown, kind](const base::Result<Written>& written) {
    if (written) return end_round(shown);
    // Nothing of the events is in the log: what is lacking is found out anew.
    shown->parent_last = {};
    if (written.error().code == base::ErrorCode::not_found) end(shown);
    if (kind->has_changed && !kind->is_early) return void(background_.run([this, shown] { choose(shown); }));
    if (kind->is_early)
      return void(background_.timers().after(
          kTurnTime, [this, shown] { background_.run([this, shown] { choose(shown); }); }));
    end_round(shown);
  };
  inbox_.post(std::move(decision));
}

void ChildReplies::end_round(const ShownPtr& shown) {
  std::vector<std::function<void()>> then;
  const bool again = shown->rounds.with([&](auto& rounds) {
    rounds.is_busy = std::exchange(rounds.again, false) && !shown->is_over;
    if (!rounds.is_busy) then = std::exchange(rounds.then, {});
    return rounds.is_busy;
  });
  if (again) background_.run([this, shown] { look(shown); });
  for (const auto& one : then) one();
}

}  // namespace baton::engine
