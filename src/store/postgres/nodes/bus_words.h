// The words of nodes to each other: the payloads of NOTIFY.
//
// A payload is the number of the node that sends it, and words. Examples: "12 345:6 78:9": node 12 has
// changed task 345, whose last event is 6, and task 78. "12 +345:6": it follows task 345. "12 *", "12 ?345"
// and "12 !345": see Bus::ask_all, Bus::ask and Bus::answer. "12": see call_others. Any user of the database
// can send a payload, so what follows a word that cannot be read is ignored.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/peers.h"

namespace baton::store::postgres {

// The words for Words::tasks, followed, asked and answered, and for asks_all.
std::string word_of_change(const Grown& grown);
std::string word_of_follower(const Grown& grown);
std::string word_of_question(task::TaskKey task);
std::string word_of_answer(task::TaskKey task);
inline constexpr std::string_view kAskAll = " *";

// Joins words to payloads that PostgreSQL accepts. Returns none if there are no words.
std::vector<std::string> payloads_of(std::int64_t node, const std::vector<std::string>& words);

struct Words {
  std::vector<Grown> tasks, followed;
  std::vector<task::TaskKey> asked, answered;
  bool asks_all = false;
  bool is_call = false;  // a payload had no words
};

// Adds the payload's words to `words`, and returns the node that has sent it; 0: none. Words of `self` are
// not added.
std::int64_t read_payload(std::string_view payload, std::int64_t self, Words& words);

}  // namespace baton::store::postgres
