#include "server/chat/conversation_place.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace baton::server::chat {
namespace {

constexpr std::size_t kKnownMax = 200;  // runs in an id that is read
// Runs in an id that is written, in addition to those of a snapshot. Small, as clients send the id in a
// header.
constexpr std::size_t kKnownKept = 64;

std::optional<RunName> read_run(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  auto task = base::percent_decoded(text.substr(0, at));
  const auto before = base::number_in<std::int64_t>(text.substr(at + 1));
  if (!task || task->empty() || !before || *before < 0) return std::nullopt;
  return RunName{{std::move(*task)}, {*before}};
}

}  // namespace

bool ConversationPlace::knows(const RunName& run, base::Timestamp began) const {
  return began <= floor_ || std::ranges::find(known_, run, &Known::run) != known_.end();
}

void ConversationPlace::add_besides(RunName run, base::Timestamp began) {
  if (began <= floor_) return;
  const auto known = std::ranges::find(known_, run, &Known::run);
  if (known == known_.end()) {
    known_.push_back({std::move(run), began});
  } else {
    known->began = began;
  }
}

void ConversationPlace::add(RunName run, base::Timestamp began) {
  add_besides(std::move(run), began);
  floor_ = std::max(floor_, base::from_ms(base::to_ms(began) - std::chrono::milliseconds(kLate).count()));
  const auto drop_covered = [&] {
    std::erase_if(known_, [&](const Known& one) { return one.began <= floor_; });
  };
  drop_covered();
  if (known_.size() <= kKnownKept) return;
  const base::Timestamp oldest = std::ranges::min(known_, {}, &Known::began).began;
  if (oldest != base::Timestamp::max()) floor_ = oldest;
  drop_covered();
}

std::string ConversationPlace::prefix() const {
  std::string text = std::to_string(base::to_ms(floor_)) + ";";
  for (const Known& one : known_) {
    text += base::percent_encoded(one.run.task.value) + "@" + std::to_string(one.run.before.value) + ";";
  }
  return text;
}

std::optional<ConversationPlace::Read> ConversationPlace::read(std::string_view id) {
  const std::size_t first = id.find(';'), last = id.rfind(';');
  if (first == std::string_view::npos) return std::nullopt;
  const auto floor = base::number_in<std::int64_t>(id.substr(0, first));
  if (!floor || *floor < 0) return std::nullopt;
  Read read{ConversationPlace(base::from_ms(*floor)), std::nullopt};
  std::string_view known = first == last ? std::string_view() : id.substr(first + 1, last - first - 1);
  while (!known.empty()) {
    const std::size_t end = known.find(';');
    auto run = read_run(known.substr(0, end));
    if (!run || read.place.known_.size() == kKnownMax) return std::nullopt;
    // When it began, a look at the store will tell.
    read.place.known_.push_back({std::move(*run), base::Timestamp::max()});
    known = end == std::string_view::npos ? std::string_view() : known.substr(end + 1);
  }
  const std::string_view rest = id.substr(last + 1);
  if (rest == ":0") return read;
  read.run = read_sse_id(rest);
  if (!read.run) return std::nullopt;
  return read;
}

}  // namespace baton::server::chat
