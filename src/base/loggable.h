// loggable: makes text from outside safe to log. Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

namespace baton::base {

// Cuts the text to 200 bytes. Replaces invalid UTF-8, control characters and characters that change the
// direction of text with \xNN, so that the text stays on one line and cannot control a terminal.
std::string loggable(std::string_view text);

// Like `loggable`, but replaces spaces too, so that the text cannot pose as another field ("task=...") of the
// line.
std::string loggable_word(std::string_view text);

// Does so for a whole log line, of any length; tabs stay.
std::string loggable_line(std::string_view text);

}  // namespace baton::base
