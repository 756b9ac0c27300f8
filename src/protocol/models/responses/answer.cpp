#include "protocol/models/responses/answer.h"

#include <algorithm>
#include <utility>

namespace baton::protocol::models::responses {
namespace {

// The name of the part in which an item has its text.
std::string_view text_of(json::Value part) {
  return part["text"].is_string() ? part["text"].string() : part["refusal"].string();
}

// OpenRouter's documentation has its own names for two events: "response.done" and
// "response.content_part.delta".
bool ends_response(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" || type == "response.failed" ||
         type == "response.cancelled" || type == "response.done";
}

bool is_text_delta(std::string_view type) {
  return type == "response.output_text.delta" || type == "response.refusal.delta" ||
         type == "response.content_part.delta";
}

bool is_text_done(std::string_view type) {
  return type == "response.output_text.done" || type == "response.refusal.done";
}

std::string arguments_in(json::Value from) {
  const json::Value arguments = from["arguments"];
  return arguments.is_string() ? arguments.str() : arguments.absent() ? "" : std::string(arguments.raw());
}

std::string id_in(json::Value call) {
  return call["call_id"].is_string() ? call["call_id"].str() : call["id"].str();
}

}  // namespace

base::Result<void> Reader::read(json::Value event, AnswerPiece& piece) {
  const std::string_view type = event["type"].string();
  if (type == "error") error_ = read_error(event.raw());
  if (type.ends_with(".delta")) take_delta(type, event, piece);
  if (is_text_done(type) && text().empty()) text_done_ += text_of(event);
  if (type == "response.output_item.added") return begin_call(event["item"]);
  if (type.starts_with("response.function_call_arguments.")) return take_arguments(type, event);
  if (type == "response.output_item.done") return take_item(event["item"], piece);
  if (ends_response(type)) return take_response(type, event["response"], piece);
  if (type.empty() && event["object"].string() == "response") return take_response({}, event, piece);
  return {};
}

void Reader::take_delta(std::string_view type, json::Value event, AnswerPiece& piece) {
  const std::string_view text = event["delta"].string();
  if (text.empty()) return;
  if (is_text_delta(type)) {
    piece.text = text;
    text_streamed_ += text.size();
  } else if (type.starts_with("response.reasoning")) {
    const json::Value number =
        event["summary_index"].missing() ? event["content_index"] : event["summary_index"];
    const std::int64_t part = number.integer().value_or(0);
    if (is_reasoning_ && part != part_) piece.reasoning = "\n\n";
    piece.reasoning += text;
    is_reasoning_ = true;
    part_ = part;
  }
}

base::Result<void> Reader::begin_call(json::Value item) {
  if (item["type"].string() != "function_call") return {};
  begun_.push_back({std::string(item.raw()), item["id"].str(), {}});
  return check_calls(begun_.size());
}

// Deltas and the whole arguments of a call.
base::Result<void> Reader::take_arguments(std::string_view type, json::Value event) {
  const std::string whole = type.ends_with(".done") ? arguments_in(event) : std::string();
  const std::string_view delta = event["delta"].string();
  if (whole.empty() && delta.empty()) return {};
  Begun& call = begun_for(event["item_id"].string());
  if (whole.empty()) {
    call.arguments += delta;
  } else {
    call.arguments = whole;
  }
  return check_calls(begun_.size());
}

// Returns the call with this id of an item. Some servers leave the id out, or give another one than at the
// item's beginning: then it is the newest call.
Reader::Begun& Reader::begun_for(std::string_view id) {
  const auto known = std::ranges::find(begun_, id, &Begun::id);
  if (known != begun_.end() && !id.empty()) return *known;
  if (!begun_.empty() && (id.empty() || !begun_.back().item.empty())) return begun_.back();
  return begun_.emplace_back(Begun{{}, std::string(id), {}});
}

// Returns the arguments that came before the whole item of a call. Without a known id it is the oldest call.
std::string Reader::arguments_before(json::Value item) {
  if (begun_.empty()) return {};
  auto known = std::ranges::find(begun_, item["id"].string(), &Begun::id);
  if (known == begun_.end()) known = begun_.begin();
  std::string arguments = std::move(known->arguments);
  begun_.erase(known);
  return arguments;
}

std::size_t Reader::bytes_beside_text() const {
  std::size_t bytes = order_.bytes() + call_bytes_ + text_done_.size();
  for (const Begun& call : begun_) bytes += call.item.size() + call.id.size() + call.arguments.size();
  return bytes;
}

base::Result<void> Reader::take_item(json::Value item, AnswerPiece& piece) {
  const std::string_view type = item["type"].string();
  if (type == "function_call") {
    // Some relays leave the arguments out of the item, as they have sent them before.
    std::string before = arguments_before(item);
    std::string arguments = arguments_in(item);
    return take_call({id_in(item), item["name"].str(), std::move(arguments.empty() ? before : arguments)},
                     members_except(item, {"type", "call_id", "name", "arguments"}));
  }
  ++(type == "message" ? messages_ : others_);
  if (type == "message") {
    take_message(item, piece);
  } else if (item.is_object()) {
    if (type == "reasoning") take_reasoning(item, piece);
    order_.add_other(members_except(item, {}));
  }
  return {};
}

base::Result<void> Reader::take_call(CalledTool call, std::string members) {
  call_bytes_ += call.id.size() + call.name.size() + call.arguments.size();
  order_.add_call(call.id, std::move(members));
  calls_.push_back(std::move(call));
  return check_calls(calls_.size());
}

// SGLang's router never sent the items of calls, not even at the end.
base::Result<void> Reader::take_begun_calls() {
  const std::vector<Begun> begun = std::exchange(begun_, {});
  for (const Begun& call : begun) {
    const auto document = json::Document::view_of(call.item);
    const json::Value item = document.root();
    if (item["name"].string().empty()) continue;
    const auto taken = take_call(
        {id_in(item), item["name"].str(), call.arguments.empty() ? arguments_in(item) : call.arguments},
        members_except(item, {"type", "call_id", "name", "arguments", "status"}));
    if (!taken) return taken;
  }
  return {};
}

void Reader::take_message(json::Value item, AnswerPiece& piece) {
  std::string text;
  for (const json::Value part : item["content"]) text += text_of(part);
  if (text_streamed_ == 0) piece.text += text;
  if (!text.empty()) text_done_.clear();
  const std::size_t bytes = text_streamed_ == 0 ? text.size() : std::exchange(text_streamed_, 0);
  order_.add_text(bytes, members_except(item, {"type", "role", "content"}));
}

void Reader::take_reasoning(json::Value item, AnswerPiece& piece) {
  if (std::exchange(is_reasoning_, false)) return;
  for (const char* member : {"summary", "content"}) {
    for (const json::Value part : item[member])
      piece.reasoning.append(piece.reasoning.empty() ? "" : "\n\n").append(text_of(part));
    if (!piece.reasoning.empty()) return;
  }
}

// Takes the items of the whole list that have not come before: some servers send only a part of the items
// whole. Calls are known by their ids; where a server changes those, and for other items, their number
// counts.
base::Result<void> Reader::take_rest(json::Value output, AnswerPiece& piece) {
  const auto is_call = [](json::Value item) { return item["type"].string() == "function_call"; };
  std::vector<std::string> known;
  for (const CalledTool& call : calls_) known.push_back(call.id);
  const auto has_come = [&](json::Value item) {
    const std::string id = is_call(item) ? id_in(item) : std::string();
    return !id.empty() && std::ranges::count(known, id) > 0;
  };
  std::size_t calls = calls_.size(), messages = messages_,
              others = others_;  // that came and are to be passed
  for (const json::Value item : output) calls -= has_come(item) && calls > 0 ? 1 : 0;
  for (const json::Value item : output) {
    const std::string_view type = item["type"].string();
    if (type.empty() || has_come(item)) continue;
    std::size_t& left = is_call(item) ? calls : type == "message" ? messages : others;
    if (left > 0) {
      --left;
    } else if (const auto taken = take_item(item, piece); !taken) {
      return taken;
    }
  }
  return {};
}

// `event`: the event that the response comes with; empty: it is a whole answer.
base::Result<void> Reader::take_response(std::string_view event, json::Value response, AnswerPiece& piece) {
  take_model(response["model"]);
  take_usage(response["usage"]);
  if (const auto taken = take_rest(response["output"], piece); !taken) return taken;
  if (calls_.empty()) {
    if (const auto taken = take_begun_calls(); !taken) return taken;
  }
  begun_.clear();
  // Some servers send a text only when it is done, and no item of it.
  if (text().empty() && piece.text.empty()) piece.text = std::exchange(text_done_, {});
  is_over_ = true;
  finish_reason_ = response["status"].str();
  if (finish_reason_.empty())
    finish_reason_ = event.empty() ? "completed" : event.substr(event.find('.') + 1);
  const json::Value reason = response["incomplete_details"]["reason"];
  if (finish_reason_ == "incomplete" && reason.is_string()) finish_reason_ = reason.str();
  // Without an error, a response that failed is an answer that broke off.
  error_ = error_of(response);
  return {};
}

}  // namespace baton::protocol::models::responses
