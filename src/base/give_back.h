// give_back: empties a string and frees its memory. Assigning an empty string would keep the memory.
#pragma once

#include <string>

namespace baton::base {

inline void give_back(std::string& text) {
  std::string().swap(text);
}

}  // namespace baton::base
