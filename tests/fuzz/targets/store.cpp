// What a database holds or its other users say: events, keys of a copy, notices of other nodes.
#include <algorithm>

#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "store/copy/row.h"
#include "store/event_codec.h"
#include "store/postgres/nodes/bus_words.h"

namespace baton::fuzz {
namespace {

// The first byte is the kind, the rest is the body.
void event(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input.front()) % 20;
  const auto read = store::codec::decode(kind, input.substr(1));
  if (read) {
    check_body(*read);
    const std::string once = store::codec::encode(*read);
    const auto again = store::codec::decode(static_cast<int>(store::codec::kind_of(*read)), once);
    require(again.has_value(), "an event that was written cannot be read");
    require_same(store::codec::encode(*again), once, "an event changes on its way");
  }
  if (const auto messages = store::codec::decode_messages(input.substr(1))) {
    for (const auto& message : *messages) check_message(message);
    const std::string once = store::codec::encode_messages(*messages);
    const auto again = store::codec::decode_messages(once);
    require(again && *again == *messages, "messages change on their way");
  }
  if (const auto strings = store::codec::decode_strings(input.substr(1))) {
    const auto again = store::codec::decode_strings(store::codec::encode_strings(*strings));
    require(again && *again == *strings, "texts change on their way");
  }
}

// The first byte chooses the table, the rest is the key of a row, as an unfinished copy holds it.
void copy_key(std::string_view input) {
  if (input.empty()) return;
  const auto tables = store::copy::tables();
  const auto& table = tables[static_cast<unsigned char>(input.front()) % tables.size()];
  const std::string key(input.substr(1));
  try {
    static_cast<void>(store::copy::Row::key_parameters(table, key));
  } catch (const std::exception&) {
    // A key that no copy has written.
  }
}

// Payloads, one a line. Any user of the database can send one.
void notice(std::string_view input) {
  using namespace store::postgres;
  constexpr std::int64_t kSelf = 7;
  Words heard;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    static_cast<void>(read_payload(input.substr(0, end), kSelf, heard));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  std::vector<std::string> words;
  for (const auto& grown : heard.tasks) words.push_back(word_of_change(grown));
  for (const auto& grown : heard.followed) words.push_back(word_of_follower(grown));
  for (const auto task : heard.asked) words.push_back(word_of_question(task));
  for (const auto task : heard.answered) words.push_back(word_of_answer(task));
  if (heard.asks_all) words.emplace_back(kAskAll);
  Words again;
  for (const std::string& payload : payloads_of(12, words)) {
    require(payload.size() < 8'000, "a payload is too long for PostgreSQL");
    require(read_payload(payload, kSelf, again) == 12, "a payload has another sender");
  }
  const auto same = [](const auto& one, const auto& other) {
    return std::ranges::equal(
        one, other, [](const auto& a, const auto& b) { return a.task == b.task && a.last == b.last; });
  };
  require(same(heard.tasks, again.tasks) && same(heard.followed, again.followed),
          "words change on their way");
  require(heard.asked == again.asked && heard.answered == again.answered, "questions change on their way");
  require(heard.asks_all == again.asks_all && !again.is_call, "a word was lost");
}

const Targets kTargets{{"store-event", event}, {"store-copy-key", copy_key}, {"store-notice", notice}};

}  // namespace
}  // namespace baton::fuzz
