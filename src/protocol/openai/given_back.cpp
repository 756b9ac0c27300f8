#include "protocol/openai/given_back.h"

#include <algorithm>

#include "json/writer.h"

namespace baton::protocol::openai {
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

GivenBack::Node& GivenBack::member(std::vector<Node>& members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &Node::name);
  if (found != members.end()) return *found;
  members.push_back({Node::Kind::other, std::string(name)});
  return members.back();
}

// `joins`: texts are pieces, and are joined.
void GivenBack::put(Node& to, json::Value from, bool joins) {
  if (from.is_string()) {
    if (to.kind != Node::Kind::text || !joins) to.text.clear();
    to.kind = Node::Kind::text;
    to.text.append(from.string());
  } else if (from.is_array()) {
    if (to.kind != Node::Kind::list) to.children.clear();
    to.kind = Node::Kind::list;
    for (const json::Value element : from) put_element(to, element);
  } else if (from.is_object()) {
    if (to.kind != Node::Kind::object) to.children.clear();
    to.kind = Node::Kind::object;
    for (const json::Value value : from) {
      if (!value.is_null()) put(member(to.children, value.key()), value, joins && is_in_pieces(value.key()));
    }
  } else {
    to.kind = Node::Kind::other;
    to.text = from.raw();
  }
}

void GivenBack::put_element(Node& list, json::Value element) {
  if (element.is_object() && !list.children.empty() && list.children.back().kind == Node::Kind::object) {
    Node& last = list.children.back();
    const auto of_last = [&](std::string_view name) {
      const auto found = std::ranges::find(last.children, name, &Node::name);
      return found == last.children.end() ? std::string_view() : std::string_view(found->text);
    };
    if (are_one(element, of_last("index"), of_last("type"))) return put(last, element, true);
  }
  list.children.emplace_back();
  put(list.children.back(), element, false);
}

void GivenBack::add(json::Value piece, std::initializer_list<std::string_view> known) {
  for (const json::Value value : piece) {
    const std::string_view name = value.key();
    const bool is_known = std::ranges::count(known, name) > 0;
    const bool says_nothing = value.is_null() || value.raw() == "[]" || value.raw() == "\"\"";
    if (is_known || says_nothing) continue;
    put(member(members_, name), value, is_in_pieces(name));
    bytes_ += name.size() + value.raw().size();
  }
}

void GivenBack::add_element(std::string_view name, json::Value element) {
  Node& list = member(members_, name);
  list.kind = Node::Kind::list;
  put_element(list, element);
  bytes_ += element.raw().size();
}

void GivenBack::write(const Node& node, std::string& out) {
  json::Writer writer(out);
  switch (node.kind) {
    case Node::Kind::text:
      writer.string(node.text);
      return;
    case Node::Kind::list:
      writer.each(node.children, [&](const Node& child) {
        std::string text;
        write(child, text);
        writer.raw(text);
      });
      return;
    case Node::Kind::object:
      writer.object([&] {
        for (const Node& child : node.children) {
          std::string text;
          write(child, text);
          writer.key(child.name).raw(text);
        }
      });
      return;
    case Node::Kind::other:
      writer.raw(node.text);
      return;
  }
}

task::Json GivenBack::json() const {
  task::Json object;
  if (members_.empty()) return object;
  Node all;
  all.kind = Node::Kind::object;
  all.children = members_;
  write(all, object.text);
  return object;
}

}  // namespace baton::protocol::openai
