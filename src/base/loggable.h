// Text from outside as a log line may show it. Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

namespace baton::base {

// Bounded, on one line: control characters become \xNN.
std::string loggable(std::string_view text);

// The same as one word, so that it cannot look like a further fact ("task=...") of the line.
std::string loggable_word(std::string_view text);

}  // namespace baton::base
