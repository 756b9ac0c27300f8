// TlsChannel: TLS over a Socket, with the context that all connections share. The other side must present a
// certificate for the requested name.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "outbound/socket.h"

namespace baton::outbound {

class TlsChannel final : public Channel {
 public:
  // Performs the handshake. `host` is the name or address from the URL, never the address that it resolved
  // to. An error says why, such as "the server's certificate is not trusted: certificate has expired".
  static base::Result<std::unique_ptr<TlsChannel>> open(std::unique_ptr<Socket> socket,
                                                        const std::string& host);

  base::Result<std::size_t> read(char* buffer, std::size_t size) override;
  base::Result<void> write(std::string_view bytes) override;
  void bound_waits(std::chrono::milliseconds longest) override { socket_->bound_waits(longest); }
  void begin(const WaitLimits& limits) override { socket_->begin(limits); }
  bool is_quiet() const override {
    return SSL_has_pending(ssl_.get()) == 0 && BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) == 0 &&
           socket_->is_quiet();
  }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  TlsChannel(std::unique_ptr<Socket> socket, std::string host)
      : socket_(std::move(socket)), host_(std::move(host)) {}
  base::Result<void> prepare();
  // Repeats an OpenSSL call, moving bytes between it and the socket, until it completes; returns its result,
  // or 0 if the other side closed the connection.
  template <class Call>
  base::Result<int> drive(Call call);
  base::Result<void> flush();
  base::Result<void> fill();

  const std::unique_ptr<Socket> socket_;
  const std::string host_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace baton::outbound
