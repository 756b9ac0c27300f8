// PartOrder: the order of an answer's texts, calls and other parts, so that the answer goes back to its
// server as it came. Servers refuse reasoning whose place or signature has changed.
//
// Other parts, such as reasoning, are kept as they are. Texts and calls are elsewhere in the message, so only
// their places are kept, and members that Baton does not know. The caller bounds `bytes`. Threads: one at a
// time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/models/shared/conversation.h"
#include "task/json.h"

namespace baton::protocol::models {

enum class PartKind { text, call, other };

class PartOrder {
 public:
  // `members`: an object's members that Baton does not know, as JSON; empty: none.
  void add_text(std::size_t bytes, std::string members = {});
  void add_call(std::string_view id, std::string members = {});
  void add_other(std::string object);

  std::size_t bytes() const { return bytes_; }
  // Returns {name: [...]}, for ChatMessage::others; absent if there is no other part and no member.
  task::Json json(std::string_view name) const;

 private:
  struct Place {
    PartKind kind = PartKind::text;
    std::size_t text_bytes = 0;
    std::string call_id = {};
    std::string members = {};
  };
  void add(Place place);

  std::vector<Place> places_;
  std::size_t bytes_ = 0;
};

// A part of a message that goes back.
struct OrderedPart {
  PartKind kind = PartKind::text;
  std::string text = {};             // of a text
  const CalledTool* call = nullptr;  // of a call
  std::string members = {};          // of another part: all of it; else its members that Baton does not know
};

// Returns the parts of an assistant's message in the order that its `others` have under `name`. Texts and
// calls that have no place there follow the other parts before the first call, or come last.
std::vector<OrderedPart> ordered_parts(const ChatMessage& said, std::string_view name);

// Returns the object without the members with a name in `known` and those that are null; empty if none is
// left.
std::string members_except(json::Value object, std::initializer_list<std::string_view> known);

// Writes the members of an object, except for those with a name in `known`: the caller writes these itself,
// and an object from a caller's history must not replace them.
void write_members(json::Writer& out, std::string_view object, std::initializer_list<std::string_view> known);

}  // namespace baton::protocol::models
