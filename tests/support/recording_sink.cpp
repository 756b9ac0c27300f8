#include "support/recording_sink.h"

#include <algorithm>

#include "support/patience.h"

namespace baton::test {

void RecordingSink::emit(task::EventBody body) {
  change([&] { events_.push_back(std::move(body)); });
}

void RecordingSink::text(std::string delta) {
  change([&] {
    text_ += delta;
    ++text_calls_;
  });
}

void RecordingSink::reply(agents::ReplyPiece piece) {
  change([&] {
    auto known = std::ranges::find(replies_, piece.id, &agents::SaidReply::id);
    if (known == replies_.end()) known = replies_.insert(known, {piece.id, {}, true});
    if (piece.anew) known->text.clear();
    known->text += piece.text;
    known->is_open = !piece.last;
    ++text_calls_;
  });
}

void RecordingSink::reasoning(std::string delta) {
  change([&] { reasoning_ += delta; });
}

bool RecordingSink::ready(std::function<void()> when_ready) {
  bool room = true;
  change([&] {
    room = !full_;
    if (!room) when_ready_ = std::move(when_ready);
  });
  return room;
}

void RecordingSink::delegate(agents::DelegateRequest request) {
  change([&] { delegates_.push_back(std::move(request)); });
}

void RecordingSink::finish(agents::Outcome outcome) {
  change([&] { outcomes_.push_back(std::move(outcome)); });
}

void RecordingSink::fill() {
  change([this] { full_ = true; });
}

void RecordingSink::make_room() {
  std::function<void()> waiting;
  change([&] {
    full_ = false;
    waiting.swap(when_ready_);
  });
  if (waiting) waiting();
}

bool RecordingSink::wait_until(const std::function<bool(const RecordingSink&)>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience(), [&] { return condition(*this); });
}

bool RecordingSink::wait_finished() {
  return wait_until([](const RecordingSink& sink) { return sink.finished(); });
}

std::string RecordingSink::ending() const {
  if (outcomes_.empty()) return "none";
  if (const auto* failed = outcome_as<agents::Failed>()) return failed->error;
  static constexpr const char* kNames[] = {"done", "failed", "rejected", "asked", "canceled", "broken off"};
  return kNames[outcomes_.front().index()];
}

std::string RecordingSink::text_now() {
  std::lock_guard lock(mutex_);
  return text_;
}

}  // namespace baton::test
