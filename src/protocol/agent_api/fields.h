// Fields: reads members of a request and keeps the first error. Values read after an error are discarded.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agent_api {

class Fields {
 public:
  const std::string& problem() const { return problem_; }
  void wrong(std::string_view where, std::string_view what) {
    if (problem_.empty()) problem_.append(where).append(" ").append(what);
  }

  // Empty if absent. `where` is the member's full name.
  std::string text(json::Value value, std::string_view where) {
    if (!value.absent() && !value.is_string()) wrong(where, "must be a string");
    return value.str();
  }
  std::string id(json::Value value, std::string_view where) {
    std::string id = text(value, where);
    if (id.size() > chat::kIdMax) {
      wrong(where, "must not be longer than " + std::to_string(chat::kIdMax) + " bytes");
    }
    return id;
  }
  bool truth(json::Value value, std::string_view where, bool otherwise) {
    if (!value.absent() && !value.is_bool()) wrong(where, "must be true or false");
    return value.is_bool() ? value.boolean() : otherwise;
  }

  template <class T>
  T taken(base::Result<T> result) {
    if (result) return std::move(*result);
    if (problem_.empty()) problem_ = std::move(result.error().for_caller);
    return T{};
  }

 private:
  std::string problem_;
};

}  // namespace baton::protocol::agent_api
