// GivenBack: the members of a model's message that Baton does not know, to be sent back with the message.
//
// Servers refuse a conversation without them: the reasoning of DeepSeek (reasoning_content), the thought
// signatures of Gemini (extra_content), OpenRouter's reasoning_details. A stream brings them in pieces: texts
// of reasoning are joined, and so are elements of lists with the same `index`; of any other value the last
// one counts. Nothing of it is trusted: the caller bounds `bytes`, and the time is proportional to them. Once
// they are more than `bytes_max`, nothing more is taken.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/writer.h"
#include "task/json.h"

namespace baton::protocol::models {

// Names in a message's `others` that no server has: of the parts of its content that are not texts, and of
// the reasoning that it had in tags.
constexpr std::string_view kContentParts = "content parts";
constexpr std::string_view kTaggedThoughts = "tagged thoughts";

class GivenBack {
 public:
  explicit GivenBack(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Adds the members of the object `piece`, except for those with a name in `known` and those without a
  // value.
  void add(json::Value piece, std::initializer_list<std::string_view> known);
  // Adds an element to the list called `name`.
  void add_element(std::string_view name, json::Value element);
  // Adds to the end of the text called `name`.
  void add_text(std::string_view name, std::string_view text);

  // The memory that the members take.
  std::size_t bytes() const { return bytes_; }
  // Returns the members as an object; absent if there are none.
  task::Json json() const;

 private:
  // A value that is put together from pieces.
  struct Node {
    enum class Kind { text, list, object, other };
    Kind kind = Kind::other;
    std::string name = {};                                        // of a member
    std::string text = {};                                        // of a text, decoded; of `other`, the JSON
    std::vector<Node> children = {};                              // elements or members
    std::map<std::string, std::size_t, std::less<>> places = {};  // of the members, by name
  };
  Node& member(Node& object, std::string_view name);
  static void clear_for(Node& to, Node::Kind kind);
  void put(Node& to, json::Value from, bool joins);
  void put_element(Node& list, json::Value element);
  static void write(const Node& node, json::Writer& out);

  Node all_{Node::Kind::object};
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of all values taken; at least the bytes that are kept
};

}  // namespace baton::protocol::models
