// OpenTexts: a run's text messages, several of which may be open at once.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "protocol/agui/out.h"

namespace baton::protocol::agui {

class OpenTexts {
 public:
  explicit OpenTexts(Names& names) : names_(names) {}

  // A piece of the text that the log knows as `key`, shown under the id `wanted` or a variant of it. `first`:
  // it begins a new message; one that is open under this key is closed. `last`: the message is complete.
  struct Piece {
    std::string key, wanted, text;
    bool first = false, last = false;
  };
  void show(const Piece& piece, Out& out);
  // Shows a complete message.
  void show_whole(const std::string& wanted, const std::string& text, Out& out);
  void close_all(Out& out);

  // The id of the conversation's last message as clients see it, or empty. Only that message may be named as
  // the parent of a tool call: for any other, clients of 0.0.42 make a second message with the same id.
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

}  // namespace baton::protocol::agui
