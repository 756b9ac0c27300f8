#include "protocol/models/shared/given_back.h"

#include <algorithm>

namespace baton::protocol::models {
namespace {

// Returns whether texts under this name come in pieces.
bool is_in_pieces(std::string_view name) {
  return name.starts_with("reasoning") || name.starts_with("thinking") || name.ends_with("content") ||
         name == "text" || name == "summary" || name == "data";
}

// Returns whether both elements are pieces of one: they have the same index, or both are parts of a message's
// text or reasoning.
bool are_one(json::Value piece, std::string_view index, std::string_view type) {
  if (piece["type"].is_string() && piece["type"].string() != type) return false;
  if (!piece["index"].missing()) return piece["index"].raw() == index;
  return index.empty() && (type == "thinking" || type == "text");
}

}  // namespace

GivenBack::Node& GivenBack::member(Node& object, std::string_view name) {
  const auto found = object.places.find(name);
  if (found != object.places.end()) return object.children[found->second];
  constexpr std::size_t kPlace = 96;  // of an entry of the map
  bytes_ += sizeof(Node) + kPlace + 2 * name.size();
  object.places.emplace(name, object.children.size());
  object.children.push_back({Node::Kind::other, std::string(name)});
  return object.children.back();
}

// Empties a node that has held another kind of value.
void GivenBack::clear_for(Node& to, Node::Kind kind) {
  if (to.kind != kind) to = Node{kind, std::move(to.name)};
}

// `joins`: texts are pieces, and are joined.
void GivenBack::put(Node& to, json::Value from, bool joins) {
  if (bytes_ > bytes_max_) return;
  if (from.is_string()) {
    clear_for(to, Node::Kind::text);
    if (!joins) to.text.clear();
    to.text.append(from.string());
    bytes_ += from.string().size();
  } else if (from.is_array()) {
    clear_for(to, Node::Kind::list);
    for (const json::Value element : from) put_element(to, element);
  } else if (from.is_object()) {
    clear_for(to, Node::Kind::object);
    for (const json::Value value : from) {
      if (!value.is_null() && bytes_ <= bytes_max_)
        put(member(to, value.key()), value, joins && is_in_pieces(value.key()));
    }
  } else {
    clear_for(to, Node::Kind::other);
    to.text = from.raw();
    bytes_ += to.text.size();
  }
}

void GivenBack::put_element(Node& list, json::Value element) {
  if (element.is_object() && !list.children.empty() && list.children.back().kind == Node::Kind::object) {
    Node& last = list.children.back();
    const auto of_last = [&](std::string_view name) {
      const auto found = last.places.find(name);
      return found == last.places.end() ? std::string_view()
                                        : std::string_view(last.children[found->second].text);
    };
    if (are_one(element, of_last("index"), of_last("type"))) return put(last, element, true);
  }
  if (bytes_ > bytes_max_) return;
  bytes_ += sizeof(Node);
  list.children.emplace_back();
  put(list.children.back(), element, false);
}

void GivenBack::add(json::Value piece, std::initializer_list<std::string_view> known) {
  for (const json::Value value : piece) {
    const std::string_view name = value.key();
    const bool is_known = std::ranges::count(known, name) > 0;
    // A server of DeepSeek's models wants its reasoning back even if the model has not reasoned.
    const bool says_nothing =
        value.is_null() || value.raw() == "[]" || (value.raw() == "\"\"" && name != "reasoning_content");
    if (is_known || says_nothing) continue;
    if (bytes_ <= bytes_max_) put(member(all_, name), value, is_in_pieces(name));
  }
}

void GivenBack::add_element(std::string_view name, json::Value element) {
  Node& list = member(all_, name);
  clear_for(list, Node::Kind::list);
  put_element(list, element);
}

void GivenBack::add_text(std::string_view name, std::string_view text) {
  Node& node = member(all_, name);
  clear_for(node, Node::Kind::text);
  node.text.append(text);
  bytes_ += text.size();
}

void GivenBack::write(const Node& node, json::Writer& out) {
  switch (node.kind) {
    case Node::Kind::text:
      out.string(node.text);
      return;
    case Node::Kind::list:
      out.each(node.children, [&](const Node& child) { write(child, out); });
      return;
    case Node::Kind::object:
      out.object([&] {
        for (const Node& child : node.children) write(child, out.key(child.name));
      });
      return;
    case Node::Kind::other:
      out.raw(node.text);
      return;
  }
}

task::Json GivenBack::json() const {
  task::Json object;
  if (all_.children.empty()) return object;
  json::Writer out(object.text);
  write(all_, out);
  return object;
}

}  // namespace baton::protocol::models
