// ToolNames: names of tools that strict servers and hosts accept: 1 to 64 letters, digits, "_" and "-".
//
// Threads: one at a time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace baton::agents {

// Returns the first 64 bytes of `wanted`, with "_" in place of each byte that a name must not have.
std::string tool_name(std::string_view wanted);

class ToolNames {
 public:
  // Returns tool_name(wanted), with a number at its end if an earlier call has returned that name.
  std::string add(std::string_view wanted);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> repeats_;  // how often each name was wanted again
};

}  // namespace baton::agents
