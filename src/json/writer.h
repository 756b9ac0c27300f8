// Writer: builds JSON text at the end of a std::string.
//
//   Writer w(out);
//   w.object([&] { w.member("id", id); w.key("parts").array([&] { ... }); });
//
// Threads: one at a time. The Writer does not check the order of calls; tests do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/json.h"

namespace baton::json {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class F>
  Writer& object(F&& members) {
    open('{');
    members();
    return close('}');
  }
  template <class F>
  Writer& array(F&& values) {
    open('[');
    values();
    return close(']');
  }

  // Writes an array: calls `write` for each of the values.
  template <class Values, class F>
  Writer& each(const Values& values, F&& write) {
    return array([&] {
      for (const auto& value : values) write(value);
    });
  }
  Writer& strings(const std::vector<std::string>& texts);

  Writer& key(std::string_view name);
  Writer& string(std::string_view text);
  Writer& integer(std::int64_t number);
  Writer& real(double number);
  Writer& boolean(bool truth);
  Writer& null();
  // Writes text that is already JSON.
  Writer& raw(std::string_view json);

  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& member(std::string_view name, const char* text) { return key(name).string(text); }
  Writer& member(std::string_view name, std::int64_t number) { return key(name).integer(number); }
  Writer& member(std::string_view name, int number) { return key(name).integer(number); }
  Writer& member(std::string_view name, bool truth) { return key(name).boolean(truth); }
  Writer& member(std::string_view name, const task::Json& json) { return key(name).raw(json.text); }
  // Writes the member unless its value is empty.
  Writer& optional(std::string_view name, std::string_view text) {
    return text.empty() ? *this : member(name, text);
  }
  Writer& optional(std::string_view name, const task::Json& json) {
    return json.empty() ? *this : member(name, json);
  }
  Writer& optional(std::string_view name, const std::vector<std::string>& texts) {
    return texts.empty() ? *this : key(name).strings(texts);
  }

 private:
  void separate();
  void open(char bracket);
  Writer& close(char bracket);

  std::string& out_;
  bool first_ = true;  // the innermost bracket is still empty
  bool after_key_ = false;
};

// Returns the text as a JSON string.
std::string string_of(std::string_view text);

}  // namespace baton::json
