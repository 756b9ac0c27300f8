// ActionBody: the body of a request for an action: the actor, the reason, and the action's own members.
//
// Threads: none shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "server/operate/call.h"

namespace baton::server::operate {

class ActionBody {
 public:
  // Fails with invalid_argument unless the body is an object of `members` and a valid reason.
  static base::Result<ActionBody> read(const Call& call, const std::vector<std::string_view>& members);

  json::Value operator[](std::string_view member) const { return document_.root()[member]; }
  const engine::Actor& actor() const { return actor_; }

  // The member `message`, in A2A 1.0's JSON, as a caller's message; empty if it is absent.
  base::Result<std::optional<task::Message>> message() const;
  // The member `message` of a retry. In it, a part {"part": 2} stands for that part of the task's own
  // message, counted from 0.
  base::Result<std::optional<engine::OperatorActions::Edited>> edited() const;

 private:
  ActionBody(json::Document document, engine::Actor actor)
      : document_(std::move(document)), actor_(std::move(actor)) {}

  json::Document document_;
  engine::Actor actor_;
};

}  // namespace baton::server::operate
