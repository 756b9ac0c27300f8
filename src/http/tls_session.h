// TlsSession: the server's side of TLS on one non-blocking socket, which it does not own.
//
// Threads: one at a time; handing it to another thread needs synchronisation.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/socket_io.h"
#include "http/tls/contexts.h"

namespace baton::http {

class TlsSession {
 public:
  // Throws std::bad_alloc.
  TlsSession(int fd, std::shared_ptr<const tls::Contexts> contexts);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  enum class Shake { done, waits, failed };
  // Takes the next step of the handshake. Call it first, and after each event until it is done.
  Shake shake();
  // Why the handshake has failed, such as "unsupported protocol".
  const std::string& failure() const { return failure_; }

  // After the handshake. See Request::certificate.
  const std::shared_ptr<const tls::Peer>& peer() const { return peer_; }

  IoResult receive(char* out, std::size_t size);
  IoResult send(std::string_view bytes);
  // Tells the peer that no more bytes follow, so that it can tell this from a connection that was cut off.
  void end_sending();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  struct Bio;  // OpenSSL's way to the socket

  const int fd_;
  std::shared_ptr<const tls::Contexts> contexts_;  // during the handshake
  std::unique_ptr<SSL, Free> ssl_;
  std::string failure_;
  std::shared_ptr<const tls::Peer> peer_;  // shared with the requests
  std::size_t room_ = 0;                   // bytes that the socket may still give in this call
  bool drained_ = false;                   // the socket had no more bytes
  bool usable_ = true;                     // false once TLS has failed: OpenSSL must not be called any more
  bool ended_ = false;                     // the peer knows that no more bytes follow
};

}  // namespace baton::http
