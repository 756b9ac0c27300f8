#include "protocol/models/shared/part_order.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/models/shared/parts.h"

namespace baton::protocol::models {
namespace {

// Whether the text can be cut into pieces of these sizes, between characters.
bool can_cut(std::string_view text, const std::vector<std::size_t>& sizes) {
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    if (size > text.size() - at || base::beginning_of(text.substr(at), size).size() != size) return false;
    at += size;
  }
  return at == text.size();
}

// Puts the text in its places: as it was cut, or all of it into the first place if it is another text now.
void place_text(const std::string& text, const std::vector<std::size_t>& sizes,
                std::vector<OrderedPart>& parts, const std::vector<std::size_t>& places) {
  if (!can_cut(text, sizes)) {
    parts[places.front()].text = text;
    return;
  }
  std::size_t at = 0;
  for (std::size_t one = 0; one < places.size(); ++one) {
    parts[places[one]].text = text.substr(at, sizes[one]);
    at += sizes[one];
  }
}

}  // namespace

void PartOrder::add(Place place) {
  bytes_ += sizeof(Place) + place.call_id.size() + place.members.size();
  places_.push_back(std::move(place));
}

void PartOrder::add_text(std::size_t bytes, std::string members) {
  add({PartKind::text, bytes, {}, std::move(members)});
}

void PartOrder::add_call(std::string_view id, std::string members) {
  add({PartKind::call, 0, std::string(id), std::move(members)});
}

void PartOrder::add_other(std::string object) {
  add({PartKind::other, 0, {}, std::move(object)});
}

task::Json PartOrder::json(std::string_view name) const {
  task::Json kept;
  const auto is_needed = [](const Place& place) { return !place.members.empty(); };
  if (std::ranges::none_of(places_, is_needed)) return kept;
  json::Writer out(kept.text);
  out.object([&] {
    out.key(name).each(places_, [&](const Place& place) {
      out.object([&] {
        if (place.kind == PartKind::text) out.member("text", static_cast<std::int64_t>(place.text_bytes));
        if (place.kind == PartKind::call) out.member("call", place.call_id);
        if (!place.members.empty()) out.key("members").raw(place.members);
      });
    });
  });
  return kept;
}

std::vector<OrderedPart> ordered_parts(const ChatMessage& said, std::string_view name) {
  std::vector<OrderedPart> parts;
  std::vector<std::size_t> texts, sizes;  // the places of texts, and their bytes
  std::vector<bool> is_placed(said.calls.size());
  const auto document = json::Document::view_of(said.others.text);
  for (const json::Value place : document.root()[name]) {
    OrderedPart part{PartKind::other, {}, nullptr, std::string(place["members"].raw())};
    if (place["call"].is_string()) {
      part.kind = PartKind::call;
      for (std::size_t at = 0; at < said.calls.size() && part.call == nullptr; ++at) {
        if (is_placed[at] || said.calls[at].id != place["call"].string()) continue;
        part.call = &said.calls[at];
        is_placed[at] = true;
      }
      if (part.call == nullptr) continue;  // it was not made
    } else if (const auto bytes = place["text"].integer()) {
      part.kind = PartKind::text;
      texts.push_back(parts.size());
      sizes.push_back(static_cast<std::size_t>(std::max<std::int64_t>(*bytes, 0)));
    }
    parts.push_back(std::move(part));
  }
  std::string text = words_of(said.parts);
  if (!texts.empty()) {
    place_text(text, sizes, parts, texts);
  } else if (!text.empty()) {
    const auto is_call = [](const OrderedPart& part) { return part.kind == PartKind::call; };
    parts.insert(std::ranges::find_if(parts, is_call), OrderedPart{PartKind::text, std::move(text)});
  }
  for (std::size_t at = 0; at < said.calls.size(); ++at) {
    if (!is_placed[at]) parts.push_back({PartKind::call, {}, &said.calls[at], {}});
  }
  return parts;
}

std::string members_except(json::Value object, std::initializer_list<std::string_view> known) {
  std::string text;
  json::Writer out(text);
  bool is_empty = true;
  out.object([&] {
    for (const json::Value member : object) {
      if (member.is_null() || std::ranges::count(known, member.key()) > 0) continue;
      out.key(member.key()).raw(member.raw());
      is_empty = false;
    }
  });
  return is_empty ? std::string() : text;
}

void write_members(json::Writer& out, std::string_view object,
                   std::initializer_list<std::string_view> known) {
  const auto document = json::Document::view_of(object);
  for (const json::Value member : document.root()) {
    if (std::ranges::count(known, member.key()) == 0) out.key(member.key()).raw(member.raw());
  }
}

}  // namespace baton::protocol::models
