// A string that is assigned an empty one keeps its memory. This gives it back.
#pragma once

#include <string>

namespace baton::base {

inline void give_back(std::string& text) {
  std::string().swap(text);
}

}  // namespace baton::base
