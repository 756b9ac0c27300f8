// StreamChecker: reads a stream as the strictest client of the Agent API would, and fails the test if a rule
// is broken.
#pragma once

#include <set>

#include "agent_api_bench.h"

namespace baton::test::agent_api {

class StreamChecker {
 public:
  explicit StreamChecker(const std::vector<std::string>& frames) {
    for (const std::string& frame : frames) take(frame);
    REQUIRE(over_);
  }

  const std::string& status() const { return status_; }
  // The completed messages, in the order of their completion.
  const std::vector<std::string>& completed() const { return completed_; }
  const std::vector<std::string>& output() const { return output_; }
  int given_up() const { return given_up_; }
  std::size_t open() const { return messages_.size(); }

 private:
  struct Content {
    std::string text;
    bool open = false;
  };
  struct Message {
    std::string type, role, status;
    std::vector<std::string> contents;
    Content current;
  };

  void take(const std::string& frame) {
    const Document document = parsed(frame);
    const Value root = document.root();
    REQUIRE_FALSE(over_);
    CHECK(root["sequence_number"].integer() == next_++);
    check_no_nulls(root);
    if (root["object"].string() == "response") {
      take_response(root);
    } else if (root["object"].string() == "message") {
      take_message(root, frame);
    } else {
      REQUIRE(root["object"].string() == "content");
      take_content(root, frame);
    }
  }

  static void check_no_nulls(Value object) {
    for (const Value member : object) CHECK_FALSE(member.is_null());
  }

  void take_response(Value root) {
    const std::string status = root["status"].str();
    if (id_.empty()) id_ = root["id"].str();
    CHECK(id_ == root["id"].string());
    CHECK(root["session_id"].string() == "s1");
    CHECK(root["created_at"].integer() == 1000);
    if (next_ == 1) {
      CHECK(status == "created");
    } else if (status == "in_progress") {
      CHECK_FALSE(going_on_);
      going_on_ = true;
    } else {
      end(root);
    }
    status_ = status;
  }

  void end(Value root) {
    over_ = true;
    const std::string_view status = root["status"].string();
    CHECK((status == "completed" || status == "canceled" || status == "failed" || status == "rejected"));
    CHECK((root["error"].is_object()) == (status == "failed" || status == "rejected"));
    CHECK(*root["completed_at"].integer() >= 1000);
    if (status == "completed") {
      CHECK(going_on_);
      CHECK(messages_.empty());
    }
    REQUIRE(root["output"].is_array());
    for (const Value message : root["output"]) output_.emplace_back(message.raw());
  }

  void take_message(Value root, const std::string& frame) {
    CHECK(going_on_);
    const std::string id = root["id"].str(), status = root["status"].str();
    REQUIRE_FALSE(id.empty());
    auto known = messages_.find(id);
    if (known == messages_.end()) {
      CHECK(ids_.insert(id).second);
      CHECK((status == "created" || status == "in_progress"));
      messages_[id] = Message{root["type"].str(), root["role"].str(), status, {}, {}};
      return;
    }
    Message& message = known->second;
    CHECK(message.type == root["type"].string());
    CHECK(message.role == root["role"].string());
    if (message.status == "created") {
      CHECK(status == "in_progress");
      message.status = status;
      return;
    }
    CHECK((status == "completed" || status == "incomplete"));
    CHECK_FALSE(message.current.open);
    REQUIRE(root["content"].size() == message.contents.size());
    CHECK_FALSE(message.contents.empty());
    std::size_t index = 0;
    for (const Value content : root["content"]) CHECK(content.raw() == message.contents[index++]);
    if (status == "completed") completed_.push_back(frame);
    if (status == "incomplete") ++given_up_;
    messages_.erase(known);
  }

  void take_content(Value root, const std::string& frame) {
    const auto known = messages_.find(root["msg_id"].str());
    REQUIRE(known != messages_.end());
    Message& message = known->second;
    CHECK(message.status == "in_progress");
    CHECK(root["index"].integer() == static_cast<std::int64_t>(message.contents.size()));
    if (root["delta"].boolean()) {
      CHECK(root["status"].string() == "in_progress");
      CHECK(root["type"].string() == "text");
      CHECK_FALSE(root["text"].string().empty());
      message.current.open = true;
      message.current.text += root["text"].string();
      return;
    }
    CHECK((root["status"].string() == "completed" || root["status"].string() == "incomplete"));
    if (root["type"].string() == "text") {
      CHECK(message.current.open);
      CHECK(root["text"].string() == message.current.text);
    } else {
      CHECK_FALSE(message.current.open);
    }
    message.current = {};
    message.contents.push_back(frame);
  }

  std::int64_t next_ = 0;
  bool going_on_ = false, over_ = false;
  int given_up_ = 0;
  std::string id_, status_;
  std::set<std::string> ids_;
  std::map<std::string, Message> messages_;  // open messages
  std::vector<std::string> completed_, output_;
};

}  // namespace baton::test::agent_api
