// OpenTexts: a run's text messages, several of which may be open at once.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "wire/agui/out.h"

namespace baton::wire::agui {

class OpenTexts {
 public:
  explicit OpenTexts(Names& names) : names_(names) {}

  // A piece of the text known as `key` in the log, which is shown under the id `wanted` or one like it.
  // `first`: whatever was open under this key is another message. `last`: the message is complete.
  struct Piece {
    std::string key, wanted, text;
    bool first = false, last = false;
  };
  void show(const Piece& piece, Out& out);
  // A message that comes as a whole.
  void show_whole(const std::string& wanted, const std::string& text, Out& out);
  void close_all(Out& out);

  // The id of the message that is the last one of the conversation as clients see it, or empty: only that
  // one may be named as the parent of a tool call, or clients of 0.0.42 make a second of the same id.
  const std::string& last_message() const { return last_message_; }
  // Something else became the conversation's last message.
  void another_followed() { last_message_.clear(); }

 private:
  struct Open {
    std::string key, id;
  };
  std::string start(const std::string& wanted, Out& out);
  void close(const std::string& key, Out& out);

  Names& names_;
  std::vector<Open> open_;
  std::string last_message_;
};

}  // namespace baton::wire::agui
