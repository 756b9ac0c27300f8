// A gRPC call over HTTP/2 by hand, whose client decides how much of its answer the server may send.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "support/patience.h"

namespace baton::server::grpc {

class RawCall {
 public:
  // Sends the whole request. The server may send nothing of its answer yet.
  RawCall(int port, const std::string& method, const std::string& message) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(test::patience());
    const timeval time{static_cast<time_t>(seconds.count()), 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const std::string no_window = std::string("\0\4", 2) + number(0);
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, no_window) +
         frame(kHeaders, kEndHeaders, kStream, head(method)) +
         frame(kData, kEndStream, kStream, std::string(1, '\0') + number(message.size()) + message));
  }

  // Lets the server send this many more bytes, and reads them. Returns false if it does not.
  bool take(std::size_t bytes) {
    send(frame(kWindowUpdate, 0, 0, number(bytes)) + frame(kWindowUpdate, 0, kStream, number(bytes)));
    for (allowed_ += bytes; taken_ < allowed_;) {
      if (has_ended_ || !read_frame()) return false;
    }
    return true;
  }
  // Reads up to the end of the call. Returns false if it does not end.
  bool ends() {
    while (!has_ended_) {
      if (!read_frame()) return false;
    }
    return true;
  }

 private:
  static constexpr char kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kWindowUpdate = 8;
  static constexpr char kEndStream = 1, kEndHeaders = 4;
  static constexpr std::uint32_t kStream = 1;

  // Four bytes, the highest first.
  static std::string number(std::size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  }
  static std::string frame(char kind, char flags, std::uint32_t stream, const std::string& payload) {
    return number(payload.size()).substr(1) + kind + flags + number(stream) + payload;
  }
  // The header block, without HPACK's tables and Huffman code.
  static std::string head(const std::string& method) {
    const std::initializer_list<std::pair<std::string_view, std::string_view>> fields{
        {":method", "POST"},         {":scheme", "http"}, {":path", method},
        {":authority", "localhost"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
    std::string block;
    for (const auto& [name, value] : fields) {
      block += '\0';
      for (const std::string_view text : {name, value})
        block.append(1, static_cast<char>(text.size())) += text;
    }
    return block;
  }

  void send(const std::string& bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    REQUIRE(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == size);
  }
  bool read(char* bytes, std::size_t size) {
    return ::recv(socket_.get(), bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }
  bool read_frame() {
    std::string about(9, '\0');
    if (!read(about.data(), about.size())) return false;
    std::size_t size = 0;
    for (int i = 0; i < 3; ++i) size = size << 8 | static_cast<unsigned char>(about[i]);
    std::string payload(size, '\0');
    if (size > 0 && !read(payload.data(), size)) return false;
    const char kind = about[3];
    if (kind == kData) taken_ += size;
    has_ended_ |= kind == kReset || ((kind == kData || kind == kHeaders) && (about[4] & kEndStream) != 0);
    return true;
  }

  const base::UniqueFd socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::size_t allowed_ = 0, taken_ = 0;  // bytes of the answer
  bool has_ended_ = false;
};

}  // namespace baton::server::grpc
