// The canonical form of a JSON text, for signatures: equal values have equal bytes.
//
// Threads: any; pure.
#pragma once

#include <string>

#include "base/error.h"
#include "json/document.h"

namespace baton::json {

enum class Canonical {
  // RFC 8785 (JCS): members by the UTF-16 units of their names, numbers as in ECMAScript, texts as UTF-8
  // with the fewest escapes.
  jcs,
  // As Python's json.dumps writes it with sort_keys, separators (",", ":") and floats for all numbers:
  // members by code points, `1.0` and `1e-07`, and only ASCII.
  python,
};

// Fails with invalid_argument for a member that is repeated, a number that no double can hold, a whole number
// that loses digits in one, and half a surrogate pair. Recursion is bounded by the Document's depth.
base::Result<std::string> canonical_json(Value value, Canonical form = Canonical::jcs);

// The number as ECMAScript's String() writes it. It must be finite.
std::string ecmascript_number(double number);

}  // namespace baton::json
