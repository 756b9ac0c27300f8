// Target: a decoder as libFuzzer runs it. A target throws nothing, reads nothing but its input, and calls
// `require` for each property that the decoder promises.
//
// Threads: one.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace baton::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};

// A file of targets/ makes one of these, which adds its targets to the program's.
struct Targets {
  Targets(std::initializer_list<Target> targets);
};
const std::vector<Target>& all_targets();

// Ends the program with `what` unless `holds`. libFuzzer then keeps the input.
void require(bool holds, const char* what);
// The same, and shows the two texts that should be equal.
void require_same(std::string_view one, std::string_view other, const char* what);

// Passes the input on in pieces, none of them empty, until `take` returns false. The input determines where
// it is cut. Each piece is a copy of exactly its size, so that AddressSanitizer sees reads past its end.
void in_pieces(std::string_view input, const std::function<bool(std::string_view piece)>& take);

}  // namespace baton::fuzz
