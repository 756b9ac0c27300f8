// Fields: reads the members of the objects that clients send, with errors that name the member.
//
// Names in error texts are full paths ("params.message.parts[0].text: must be a string"). Everything here
// fails with invalid_argument. Threads: any; stateless.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "task/task.h"

namespace baton::json {

// Params: the members of a request: those of a JSON object and, in REST, texts from the path and the query.
// Texts take precedence.
//
// Params and Param are views: the JSON's Document and the texts must outlive them. Threads: any.

// Param: one member.
class Param {
 public:
  Param() = default;
  Param(Value json) : json_(json) {}  // NOLINT: a Value is a Param without a text
  explicit Param(std::string_view text) : text_(text), is_text_(true) {}

  bool absent() const { return !is_text_ && json_.absent(); }
  bool is_string() const { return is_text_ || json_.is_string(); }
  std::string_view string() const { return is_text_ ? text_ : json_.string(); }
  // The JSON value; missing for a text.
  Value json() const { return json_; }

 private:
  Value json_;
  std::string_view text_;
  bool is_text_ = false;
};

class Params {
 public:
  using Texts = std::vector<std::pair<std::string_view, std::string_view>>;

  Params(Value json) : json_(json) {}  // NOLINT: JSON-RPC has nothing else
  // If a text is repeated, the last one counts.
  Params(Value json, Texts texts) : json_(json), texts_(std::move(texts)) {}

  Value json() const { return json_; }
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
  // Whether the JSON has this member several times and no text takes precedence.
  bool repeats(std::string_view name) const { return !(*this)[name].json().missing() && json_.repeats(name); }

 private:
  Value json_;
  Texts texts_;
};

inline constexpr std::size_t kIdMax = 256;  // bytes of an id made by a client

inline tl::unexpected<base::Error> wrong(std::string text) {
  return base::fail(base::ErrorCode::invalid_argument, std::move(text));
}

// The first of these members that is neither missing nor null.
Value first_of(Value object, std::initializer_list<std::string_view> names);

// "messages[3]".
inline std::string item_name(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Where the values of members come from: in a query, booleans and numbers are text.
enum class Source { json, query };

// Fields: reads the members of one object. Members of the path and the query take precedence.
//
// Keeps the first error; values read after it must be discarded. An absent member leaves its target
// unchanged. A member may have several names: the first of `names` that is given counts, and errors use the
// first of all.
class Fields {
 public:
  using Names = std::initializer_list<std::string_view>;

  // `path`: the prefix of members' names in errors, such as "params.message.".
  explicit Fields(Params params = Value(), std::string_view path = {}, Source source = Source::json)
      : params_(std::move(params)), path_(path), source_(source) {}

  void string(Names names, std::string& to);
  void needed_string(Names names, std::string& to);
  // An id that a client made or repeats.
  void id(Names names, std::string& to, std::size_t bytes_max = kIdMax);
  void needed_id(Names names, std::string& to, std::size_t bytes_max = kIdMax);
  // The required id of a task, before 1.0. Whole numbers are accepted too: documents of 0.1 have them.
  void task_id(std::string_view name, task::TaskId& to);
  void task_ids(Names names, std::vector<task::TaskId>& to);
  void strings(Names names, std::vector<std::string>& to);
  void object(Names names, task::Json& to);
  void truth(Names names, std::optional<bool>& to);
  // A whole number from 0.
  void count(Names names, std::optional<std::int64_t>& to);
  void history(Names names, std::optional<int>& to);

  // Calls `read(value, path of the member)`, which returns a Result.
  template <class Read, class To>
  void read(Names names, Read&& read, To& to) {
    take(read(value(names).json(), path_of(names)), to);
  }
  // Like `read`, but does nothing if the member is absent.
  template <class Read, class To>
  void read_if_given(Names names, Read&& read, To& to) {
    if (!value(names).absent()) this->read(names, std::forward<Read>(read), to);
  }
  template <class From, class To>
  void take(base::Result<From> from, To& to) {
    if (!from) return fail(std::move(from.error()));
    to = std::move(*from);
  }
  void take(base::Result<void> done) {
    if (!done) fail(std::move(done.error()));
  }

  Param value(Names names) const { return params_.first_of(names); }
  // `what`: "must be a list".
  void wrong(Names names, std::string_view what);
  void fail(base::Error error) {
    if (!error_) error_ = std::move(error);
  }

  bool good() const { return !error_; }
  // Returns the value that was read, or the first error.
  template <class T>
  base::Result<T> result(T read) {
    if (error_) return base::fail(std::move(*error_));
    return read;
  }
  base::Result<void> result() {
    if (error_) return base::fail(std::move(*error_));
    return {};
  }

 private:
  std::string path_of(Names names) const { return path_ + std::string(*names.begin()); }

  const Params params_;
  const std::string path_;
  const Source source_;
  std::optional<base::Error> error_;
};

}  // namespace baton::json
