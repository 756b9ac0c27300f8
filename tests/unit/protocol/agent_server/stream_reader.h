// For tests: reads an Agent Server stream frame by frame and checks every rule of the protocol's document.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/document.h"
#include "protocol/chat/run_view.h"
#include "unit/protocol/agkit/run_log.h"

namespace baton::test {

class StreamReader {
 public:
  void take(const protocol::chat::Frames::Frame& frame) {
    const auto document = json::Document::parse(frame.data);
    REQUIRE_MESSAGE(document, frame.data);
    const json::Value data = document->root();
    CHECK_FALSE(over_);
    CHECK(data["sequence_number"].integer() == next_++);
    const std::string object = data["object"].str();
    if (object == "response") {
      take_response(frame, data);
    } else if (object == "message") {
      take_message(frame, data);
    } else if (object == "content") {
      take_content(frame, data);
    } else {
      take_tool_use(frame, data);
    }
  }
  bool is_over() const { return over_; }
  const std::string& status() const { return status_; }
  const std::string& text() const { return text_; }

 private:
  void take_response(const protocol::chat::Frames::Frame& frame, json::Value data) {
    CHECK(frame.event == "response");
    const std::string status = data["status"].str();
    if (next_ == 1) {
      CHECK(status == "created");
      id_ = data["id"].str();
    }
    CHECK(data["id"].str() == id_);
    CHECK(data["created_at"].integer() == kRunAt / 1000);
    if (status == "created" || status == "in_progress") {
      CHECK(status_ == (status == "created" ? "" : "created"));
      CHECK(data["output"].missing());
    } else {
      over_ = true;
      CHECK(open_.empty());
      // A canceled run may have a reason.
      if (status != "canceled") {
        CHECK((status == "failed" || status == "rejected") == data["error"]["code"].is_string());
      }
      check_output(data["output"]);
    }
    status_ = status;
  }
  void take_message(const protocol::chat::Frames::Frame& frame, json::Value data) {
    CHECK(frame.event == "message");
    CHECK(status_ == "in_progress");
    const std::string id = data["id"].str();
    if (data["status"].string() == "in_progress") {
      CHECK(ids_.insert(id).second);
      open_[id] = {};
      return;
    }
    REQUIRE(open_.contains(id));
    check_content(data["content"], open_[id]);
    open_.erase(id);
    if (data["status"].string() == "completed") {
      completed_.push_back(frame.data);
    } else {
      CHECK(data["status"].string() == "incomplete");
    }
  }
  void take_content(const protocol::chat::Frames::Frame& frame, json::Value data) {
    CHECK(frame.event == "text");
    CHECK(data["status"].string() == "in_progress");
    CHECK(data["delta"].boolean());
    CHECK_FALSE(data["text"].string().empty());
    const std::string id = data["msg_id"].str();
    REQUIRE(open_.contains(id));
    open_[id][*data["index"].integer()] += data["text"].string();
    text_ += data["text"].string();
  }
  void take_tool_use(const protocol::chat::Frames::Frame& frame, json::Value data) {
    CHECK(frame.event == data["object"].string());
    CHECK(data["type"].string() == data["object"].string());
    CHECK(data["status"].string() == "completed");
    CHECK(ids_.insert(data["id"].str()).second);
    const json::Value use = (*data["content"].begin())["data"];
    if (frame.event == "plugin_call") {
      CHECK(use["type"].string() == "tool_use");
      CHECK(use["input"].is_object());
      names_[use["id"].str()] = use["name"].str();
    } else {
      CHECK(frame.event == "plugin_call_output");
      CHECK(use["type"].string() == "tool_result");
      CHECK(names_[use["id"].str()] == use["name"].string());
      CHECK((*use["output"].begin())["type"].string() == "text");
    }
    completed_.push_back(frame.data);
  }
  static void check_content(json::Value content, const std::map<std::int64_t, std::string>& pieces) {
    std::int64_t index = 0;
    for (const json::Value one : content) {
      const auto joined = pieces.find(index++);
      CHECK(one["text"].string() == (joined == pieces.end() ? "" : joined->second));
    }
    for (const auto& [at, text] : pieces) CHECK(at < index);
  }
  // The completed objects in order. Withdrawn and replaced ones may be missing.
  void check_output(json::Value output) const {
    auto next = completed_.begin();
    for (const json::Value object : output) {
      next = std::find(next, completed_.end(), object.raw());
      REQUIRE(next != completed_.end());
      ++next;
    }
  }

  std::int64_t next_ = 0;
  std::string id_, status_, text_;
  bool over_ = false;
  std::set<std::string> ids_;
  std::map<std::string, std::map<std::int64_t, std::string>> open_;
  std::vector<std::string> completed_;
  std::map<std::string, std::string> names_;
};

}  // namespace baton::test
