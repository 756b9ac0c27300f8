// Reader: reads the answer of a server to a request of OpenAI's Responses API, from the events of a stream or
// a whole response.
//
// Texts are taken as they stream. Items count once they are whole: servers disagree about the ids and numbers
// of items in the events before.
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
  std::size_t bytes_beside_text() const override {
    return order_.bytes() + call_bytes_ + arguments_.size() + arguments_of_.size();
  }
  void take_delta(std::string_view type, json::Value event, AnswerPiece& piece);
  base::Result<void> take_item(json::Value item, AnswerPiece& piece);
  base::Result<void> take_call(json::Value item);
  void take_message(json::Value item, AnswerPiece& piece);
  void take_reasoning(json::Value item, AnswerPiece& piece);
  base::Result<void> take_response(std::string_view event, json::Value response, AnswerPiece& piece);

  PartOrder order_;
  std::vector<CalledTool> calls_;
  std::string arguments_, arguments_of_;  // of the call whose item comes next, and the item's id
  std::size_t call_bytes_ = 0;
  std::size_t items_ = 0;          // whole ones
  std::size_t text_streamed_ = 0;  // bytes since the last whole message
  bool is_reasoning_ = false;      // reasoning has streamed since the last whole item of it
  std::int64_t part_ = 0;          // the number of that reasoning's last part
};

}  // namespace baton::protocol::models::responses
