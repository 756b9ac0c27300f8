// Params: the members of a request, as its binding has them: those of a JSON object, before which come texts
// from the path and the query of REST.
//
// Views: the JSON's Document and the texts must outlive them. Threads: any.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"

namespace baton::protocol::a2a {

// One member.
class Param {
 public:
  Param() = default;
  Param(json::Value json) : json_(json) {}  // NOLINT: a Value is a Param without a text
  explicit Param(std::string_view text) : text_(text), is_text_(true) {}

  bool absent() const { return !is_text_ && json_.absent(); }
  bool is_string() const { return is_text_ || json_.is_string(); }
  std::string_view string() const { return is_text_ ? text_ : json_.string(); }
  // What only JSON can say; missing for a text.
  json::Value json() const { return json_; }

 private:
  json::Value json_;
  std::string_view text_;
  bool is_text_ = false;
};

class Params {
 public:
  using Texts = std::vector<std::pair<std::string_view, std::string_view>>;

  Params(json::Value json) : json_(json) {}  // NOLINT: JSON-RPC has nothing else
  // Of repeated texts the last one counts.
  Params(json::Value json, Texts texts) : json_(json), texts_(std::move(texts)) {}

  json::Value json() const { return json_; }
  // The first of these members that is neither missing nor null.
  Param first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const Param param = (*this)[name]; !param.absent()) return param;
    }
    return {};
  }
  Param operator[](std::string_view name) const {
    for (auto text = texts_.rbegin(); text != texts_.rend(); ++text) {
      if (text->first == name) return Param(text->second);
    }
    return json_[name];
  }
  // Whether it is not clear which of several members of the JSON is meant.
  bool repeats(std::string_view name) const { return !(*this)[name].json().missing() && json_.repeats(name); }

 private:
  json::Value json_;
  Texts texts_;
};

}  // namespace baton::protocol::a2a
