// Frames: the items of a stream in one string, as a StreamSource gives them: each has its length and its kind
// before it.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace baton::server::grpc {

enum class FrameKind : char {
  message,  // the bytes of a StreamResponse
  failure,  // the bytes of the google.rpc.Status with which the call ends
};

inline void append_frame(std::string& out, FrameKind kind, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  char head[sizeof size + 1];
  std::memcpy(head, &size, sizeof size);
  head[sizeof size] = static_cast<char>(kind);
  out.append(head, sizeof head).append(bytes);
}

// Calls `on_frame(kind, bytes)` for each. The frames are whole: sources never split one.
template <class F>
void each_frame(std::string_view frames, F&& on_frame) {
  std::uint32_t size = 0;
  while (frames.size() > sizeof size) {
    std::memcpy(&size, frames.data(), sizeof size);
    on_frame(static_cast<FrameKind>(frames[sizeof size]), frames.substr(sizeof size + 1, size));
    frames.remove_prefix(std::min(frames.size(), sizeof size + 1 + size));
  }
}

}  // namespace baton::server::grpc
