#include "engine/delegate/child_replies.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "agents/said_replies.h"
#include "agents/text_mark.h"
#include "engine/decide/kinds/show_replies.h"

namespace baton::engine {
namespace {

constexpr int kPage = 1'000;                        // events read at once
constexpr std::chrono::milliseconds kTurnTime{50};  // after which a running turn of the parent may be over
// The inverse of the largest share of a task's space that shown replies may fill: the task's own answer and
// its caller's further messages need room too.
constexpr std::size_t kShownShare = 2;

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
  // Set by the current round.
  task::EventNumber parent_last;  // the parent's last event when its log had all that was read; 0: compare
  KindPtr refused;                // was read, but the parent's log does not have it yet

  // Returns a piece of the child's reply as the parent shows it.
  task::TextDelta as_shown(const task::TextDelta& piece) const {
    task::TextDelta copy = piece;
    copy.reply.value = ids_begin + std::to_string(piece.ordinal);
    copy.in_status = in_status;
    return copy;
  }
  // Whether this piece in the parent's log is of the child's replies.
  bool is_shown(const task::TextDelta& piece) const { return piece.reply.value.starts_with(ids_begin); }
};

// A reply in the parent's log.
struct ChildReplies::KnownReply {
  agents::TextMark text;
  bool is_open = false;
};

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

// Called when the child's log has grown. The parent's turn shows what the child says with its end.
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
  for (std::size_t left = log->events.size(); left > 0; --left) {
    const task::Event& event = *log->events[left - 1];
    if (event.number.value <= from) return;
    if (is_reply(event.body)) return wake(shown);
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
  const auto choose_next = [this, shown] { background_.run([this, shown] { choose(shown); }); };
  if (!live_.after_change(shown->child, choose_next)) choose(shown);
}

void ChildReplies::choose(const ShownPtr& shown) {
  const auto child = reader_.head(shown->child);
  if (!child || task::is_terminal(child->state) || child->cancel_requested) end(shown);
  if (shown->is_over) return end_round(shown);
  if (KindPtr refused = std::exchange(shown->refused, nullptr)) {
    if (passes_over(*shown)) return post(shown, std::move(refused));
    shown->parent_last = {};
  }
  const auto pieces = shown->parent_last ? news_of(*shown, child->last_event) : compared(*shown);
  if (!pieces || pieces->empty()) return end_round(shown);
  const auto kind = std::make_shared<ShowReplies>();
  kind->task = shown->parent;
  kind->message = shown->message;
  kind->events.assign(pieces->begin(), pieces->end());
  kind->self = turns_.self();
  kind->bytes_max = options_.task_bytes_max / kShownShare;
  // Weak, because `shown` may own the kind.
  kind->is_wanted = [weak = std::weak_ptr(shown)] {
    const auto one = weak.lock();
    return one && !one->is_over;
  };
  post(shown, kind);
}

// Moves `parent_last` to the end of the parent's log. Returns false if the events until there are about the
// child's replies, or cannot be read.
bool ChildReplies::passes_over(Shown& shown) const {
  while (true) {
    const auto page = reader_.committed_events(shown.parent, shown.parent_last, kPage);
    if (!page) return false;
    if (page->empty()) return true;
    for (const task::Event& event : *page) {
      const auto* piece = std::get_if<task::TextDelta>(&event.body);
      const bool is_about =
          piece != nullptr ? shown.is_shown(*piece) : std::holds_alternative<task::Withdrawn>(event.body);
      if (is_about) return false;
    }
    shown.parent_last = page->back().number;
  }
}

// Returns what the parent's log has of the child's replies, and sets `parent_last` to the end of that log.
base::Result<ChildReplies::Known> ChildReplies::read_known(Shown& shown) const {
  Known known;
  task::EventNumber last = shown.message;
  while (true) {
    const auto page = reader_.committed_events(shown.parent, last, kPage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    last = page->back().number;
    for (const task::Event& event : *page) {
      if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event.body))
        for (const task::ArtifactId& id : withdrawn->artifacts) known.erase(id);
      const auto* piece = std::get_if<task::TextDelta>(&event.body);
      if (piece == nullptr || !shown.is_shown(*piece)) continue;
      KnownReply& reply = known[piece->reply];
      if (piece->first) reply = {};
      reply.text.add(piece->text);
      reply.is_open = !piece->last;
      if (task::is_withdrawal(*piece)) known.erase(piece->reply);
    }
  }
  shown.parent_last = last;
  return known;
}

// Returns the child's replies, each as one piece that the parent shows.
base::Result<ChildReplies::Pieces> ChildReplies::read_said(Shown& shown) const {
  agents::SaidReplies said;  // with the child's ids
  std::unordered_map<task::ArtifactId, int> ordinals;
  std::int64_t read_to = 0;
  while (true) {
    const auto page = reader_.events(shown.child, {read_to}, kPage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    read_to = page->back().number.value;
    for (const task::Event& event : *page) {
      if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event.body)) said.drop(*withdrawn);
      const auto* piece = std::get_if<task::TextDelta>(&event.body);
      if (piece == nullptr) continue;
      said.add(*piece);
      ordinals[piece->reply] = piece->ordinal;
    }
  }
  Pieces pieces;
  for (agents::SaidReply& reply : std::move(said).take()) {
    task::TextDelta piece;
    piece.ordinal = ordinals[reply.id];
    piece.text = std::move(reply.text);
    piece.first = true;
    piece.last = !reply.is_open;
    pieces.push_back(shown.as_shown(piece));
  }
  shown.read_to = read_to;
  return pieces;
}

// Returns what the parent's log lacks of the child's replies, by comparing both logs.
base::Result<ChildReplies::Pieces> ChildReplies::compared(Shown& shown) const {
  shown.parent_last = {};
  auto said = read_said(shown);
  if (!said) return base::fail(said.error());
  auto known = read_known(shown);
  if (!known) return base::fail(known.error());
  Pieces news;
  for (task::TextDelta& piece : *said) {
    if (const auto there = known->extract(piece.reply)) {
      const KnownReply& reply = there.mapped();
      if (reply.text.begins(piece.text)) {
        if (reply.text.size() == piece.text.size() && reply.is_open == !piece.last) continue;
        piece.text.erase(0, reply.text.size());
        piece.first = false;
      }
    } else if (piece.text.empty()) {
      continue;
    }
    news.push_back(std::move(piece));
  }
  Pieces lacking;
  for (const auto& [id, reply] : *known) lacking.push_back(withdrawal_of(id, shown.in_status));
  std::ranges::move(news, std::back_inserter(lacking));
  return lacking;
}

// Returns what the child has said since the last time. `last`: the child's last event.
base::Result<ChildReplies::Pieces> ChildReplies::news_of(Shown& shown, task::EventNumber last) const {
  const auto page = reader_.events(shown.child, {shown.read_to}, kPage);
  if (!page) return base::fail(page.error());
  Pieces pieces;
  for (const task::Event& event : *page) {
    // Its ids are the child's own; the ordinals that they have are in the child's log.
    if (std::holds_alternative<task::Withdrawn>(event.body)) return compared(shown);
    if (const auto* piece = std::get_if<task::TextDelta>(&event.body)) put(pieces, shown.as_shown(*piece));
  }
  if (page->empty()) return pieces;
  shown.read_to = page->back().number.value;
  // A page may be shorter than the log.
  if (page->back().number < last) shown.rounds.with([](auto& rounds) { rounds.again = true; });
  return pieces;
}

void ChildReplies::post(const ShownPtr& shown, KindPtr kind) {
  kind->last_event = shown->parent_last;
  kind->has_changed = kind->is_early = false;  // a decision that is refused before it is made sets neither
  Decision decision(kind);
  for (const task::EventBody& body : kind->events) decision.bytes += task::weight_of(body);
  decision.committed = [shown](const store::Committed& now) { shown->parent_last = now.head.last_event; };
  decision.done = [this, shown, kind](const base::Result<Written>& written) {
    if (written) return end_round(shown);
    if (written.error().code == base::ErrorCode::not_found) end(shown);
    const auto again = [this, shown] { background_.run([this, shown] { choose(shown); }); };
    if (kind->has_changed || kind->is_early) {
      shown->refused = kind;
      return kind->is_early ? void(background_.timers().after(kTurnTime, again)) : again();
    }
    shown->parent_last = {};  // none of the events is in the log: compare again
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
