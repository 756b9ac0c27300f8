// loggable: makes text from outside safe to log. Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

namespace baton::base {

// Cuts the text to 200 bytes and replaces by \xNN what is no UTF-8, control characters and those that change
// the direction of text, so that it stays on one line and means nothing to a terminal.
std::string loggable(std::string_view text);

// The same, with spaces replaced too, so that the text cannot pose as another field ("task=...") of the line.
std::string loggable_word(std::string_view text);

}  // namespace baton::base
