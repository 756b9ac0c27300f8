// Answer: the result of an A2A operation, as a value that each binding writes in its own form.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/read/task_list.h"
#include "http/http_server.h"
#include "protocol/a2a/requests.h"
#include "server/show/download.h"

namespace baton::server::a2a {

// The answer to a send: the task, or the message that takes the place of a hidden task.
struct SentAnswer {
  task::Task task;
};
// The answer to get and cancel.
struct TaskAnswer {
  task::Task task;
};
struct ListAnswer {
  protocol::a2a::ListRequest request;
  engine::TaskList list;
};
struct PushAnswer {
  task::TaskId task;
  task::PushConfig config;
};
struct PushesAnswer {
  task::TaskId task;
  std::vector<task::PushConfig> configs;
  std::string next = {};  // the token of the next page; empty: there is none
};
struct PushDeleted {};
struct CardAnswer {
  std::string json;  // in the view of the call's version and binding
};
// REST only.
struct ContentAnswer {
  Download download;
  task::EventNumber version;  // changes with the bytes
};

// REST only: a view of Baton's own.
struct ViewAnswer {
  http::Reply reply;
};

using Answer = std::variant<SentAnswer, TaskAnswer, ListAnswer, PushAnswer, PushesAnswer, PushDeleted,
                            CardAnswer, ContentAnswer, ViewAnswer>;

}  // namespace baton::server::a2a
