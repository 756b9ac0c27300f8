// Channel: a byte stream to another machine that never blocks. Socket is the unencrypted channel.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::outbound {

// Errors: unavailable (the connection is broken). After one of `write` or `flush`, `read` still gives what
// has arrived.
class Channel {
 public:
  virtual ~Channel() = default;
  // The descriptor to wait for.
  virtual int fd() const = 0;
  // Reads what has arrived. Returns 0 at the end of the stream, nullopt if there is nothing yet.
  virtual base::Result<std::optional<std::size_t>> read(char* buffer, std::size_t size) = 0;
  // Takes as many bytes as fit, and returns their number.
  virtual base::Result<std::size_t> write(std::string_view bytes) = 0;
  // Sends bytes that were taken and did not fit. Returns true if none are left.
  virtual base::Result<bool> flush() = 0;
  // Returns true if bytes can be read that the descriptor does not announce.
  virtual bool has_more() const = 0;
  // Returns true if the other side has sent nothing that was not read, not even the end of the stream.
  virtual bool is_quiet() const = 0;
};

class Socket final : public Channel {
 public:
  // Begins to connect to an IPv4 or IPv6 address; no name is resolved. When the descriptor becomes writable,
  // `connected` has the result.
  static base::Result<std::unique_ptr<Socket>> begin(const std::string& address, int port);

  base::Result<void> connected() const;
  // The address that it is connected to.
  const std::string& address() const { return address_; }

  int fd() const override { return fd_.get(); }
  base::Result<std::optional<std::size_t>> read(char* buffer, std::size_t size) override;
  base::Result<std::size_t> write(std::string_view bytes) override;
  base::Result<bool> flush() override { return true; }
  bool has_more() const override { return false; }
  bool is_quiet() const override;

 private:
  Socket(base::UniqueFd fd, std::string address) : fd_(std::move(fd)), address_(std::move(address)) {}

  base::UniqueFd fd_;
  const std::string address_;
};

}  // namespace baton::outbound
