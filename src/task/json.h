// Json: the text of one JSON value, kept byte for byte as it arrived. Empty means "absent".
//
// The vocabulary carries metadata, data parts and tool arguments without parsing them; json/ parses the text
// where needed. The text is valid JSON in valid UTF-8: decoders check it first.
#pragma once

#include <string>

namespace baton::task {

struct Json {
  std::string text;

  bool empty() const { return text.empty(); }
  friend bool operator==(const Json&, const Json&) = default;
};

}  // namespace baton::task
