// Reader: reads the answer of a server to a request of OpenAI's Responses API, from the events of a stream or
// a whole response.
//
// Texts are taken as they stream. Items count once they are whole: servers disagree about the ids and numbers
// of items in the events before. Some servers never send whole calls. If no whole call has come, the calls
// are built from the events before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/models/responses/request.h"
#include "protocol/models/shared/answer.h"
#include "protocol/models/shared/part_order.h"

namespace baton::protocol::models::responses {

class Reader final : public AnswerReader {
 public:
  explicit Reader(const AnswerRules& rules = {}) : AnswerReader(rules) {}

  std::vector<CalledTool> calls() const override { return calls_; }
  task::Json others() const override { return order_.json(kItems); }

 private:
  base::Result<void> read(json::Value event, AnswerPiece& piece) override;
  // A call whose whole item has not come.
  struct Begun {
    std::string item;  // its first form, as JSON; empty: it did not come
    std::string id;    // of the item
    std::string arguments;
  };

  std::size_t bytes_beside_text() const override;
  base::Result<void> begin_call(json::Value item);
  Begun& begun_for(std::string_view id);
  base::Result<void> take_arguments(std::string_view type, json::Value event);
  std::string arguments_before(json::Value item);
  void take_delta(std::string_view type, json::Value event, AnswerPiece& piece);
  base::Result<void> take_item(json::Value item, AnswerPiece& piece);
  base::Result<void> take_call(CalledTool call, std::string members);
  base::Result<void> take_begun_calls();
  void take_message(json::Value item, AnswerPiece& piece);
  void take_reasoning(json::Value item, AnswerPiece& piece);
  base::Result<void> take_rest(json::Value output, AnswerPiece& piece);
  base::Result<void> take_response(std::string_view event, json::Value response, AnswerPiece& piece);

  PartOrder order_;
  std::vector<CalledTool> calls_;
  std::vector<Begun> begun_;
  std::size_t call_bytes_ = 0;
  std::size_t messages_ = 0, others_ = 0;  // whole ones
  std::size_t text_streamed_ = 0;          // bytes since the last whole message
  std::string text_done_;                  // of a server that has streamed no text
  bool is_reasoning_ = false;              // reasoning has streamed since the last whole item of it
  std::int64_t part_ = 0;                  // the number of that reasoning's last part
};

}  // namespace baton::protocol::models::responses
