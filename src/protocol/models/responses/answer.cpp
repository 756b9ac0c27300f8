#include "protocol/models/responses/answer.h"

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

}  // namespace

base::Result<void> Reader::read(json::Value event, AnswerPiece& piece) {
  const std::string_view type = event["type"].string();
  if (type == "error") error_ = read_error(event.raw());
  if (type.ends_with(".delta")) take_delta(type, event, piece);
  if (type == "response.function_call_arguments.done") {
    arguments_ = event["arguments"].str();
    arguments_of_ = event["item_id"].str();
  }
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

base::Result<void> Reader::take_item(json::Value item, AnswerPiece& piece) {
  ++items_;
  const std::string_view type = item["type"].string();
  if (type == "function_call") return take_call(item);
  if (type == "message") {
    take_message(item, piece);
  } else if (item.is_object()) {
    if (type == "reasoning") take_reasoning(item, piece);
    order_.add_other(members_except(item, {}));
  }
  return {};
}

base::Result<void> Reader::take_call(json::Value item) {
  const json::Value arguments = item["arguments"];
  CalledTool call;
  call.id = item["call_id"].is_string() ? item["call_id"].str() : item["id"].str();
  call.name = item["name"].str();
  call.arguments = arguments.is_string() ? arguments.string() : arguments.raw();
  // Some relays leave the arguments out of the item, as they have sent them before.
  std::string before = std::exchange(arguments_, {});
  if (call.arguments.empty() && item["id"].string() == arguments_of_) call.arguments = std::move(before);
  call_bytes_ += call.id.size() + call.name.size() + call.arguments.size();
  order_.add_call(call.id, members_except(item, {"type", "call_id", "name", "arguments"}));
  calls_.push_back(std::move(call));
  return check_calls(calls_.size());
}

void Reader::take_message(json::Value item, AnswerPiece& piece) {
  std::string text;
  for (const json::Value part : item["content"]) text += text_of(part);
  if (text_streamed_ == 0) piece.text += text;
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

// `event`: the event that the response comes with; empty: it is a whole answer.
base::Result<void> Reader::take_response(std::string_view event, json::Value response, AnswerPiece& piece) {
  take_model(response["model"]);
  take_usage(response["usage"]);
  std::size_t at = 0;
  for (const json::Value item : response["output"]) {
    if (at++ < items_) continue;  // it came before
    if (const auto taken = take_item(item, piece); !taken) return taken;
  }
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
