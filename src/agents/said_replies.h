// SaidReplies: the replies of a log, folded from its events. Adding an event takes constant time, however
// many replies there are. Threads: one at a time.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "task/event.h"

namespace baton::agents {

// A reply in a task's log.
struct SaidReply {
  task::ArtifactId id;
  std::string text;
  bool is_open = false;  // its end is not in the log
};

class SaidReplies {
 public:
  // Adds a piece of a reply, which may replace or withdraw what the reply had.
  void add(const task::TextDelta& piece) {
    const auto [place, is_new] = places_.try_emplace(piece.reply, all_.size());
    if (is_new) all_.push_back({{piece.reply, {}}, false});
    Entry& entry = all_[place->second];
    entry.is_there = !task::is_withdrawal(piece);
    if (piece.first) entry.reply.text.clear();
    entry.reply.text += piece.text;
    entry.reply.is_open = !piece.last;
  }

  void drop(const task::Withdrawn& withdrawn) {
    for (const task::ArtifactId& id : withdrawn.artifacts) {
      const auto place = places_.find(id);
      if (place != places_.end()) all_[place->second] = {{id, {}}, false};
    }
  }

  // Returns the replies that are not withdrawn, in the order in which they were first said.
  std::vector<SaidReply> take() && {
    std::vector<SaidReply> replies;
    for (Entry& entry : all_) {
      if (entry.is_there) replies.push_back(std::move(entry.reply));
    }
    return replies;
  }

 private:
  struct Entry {
    SaidReply reply;
    bool is_there = false;
  };
  std::vector<Entry> all_;
  std::unordered_map<task::ArtifactId, std::size_t> places_;  // in `all_`
};

}  // namespace baton::agents
