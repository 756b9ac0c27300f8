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
  // `host` is the name or address from the URL, never the address that it resolved to. `shake` comes next.
  static base::Result<std::unique_ptr<TlsChannel>> over(std::unique_ptr<Socket> socket,
                                                        const std::string& host);
  // Takes the next step of the handshake. Returns true once it is complete; call it again when there is more
  // to read, or when `flush` has sent all. An error says why, such as "the server's certificate is not
  // trusted: certificate has expired".
  base::Result<bool> shake();

  int fd() const override { return socket_->fd(); }
  base::Result<std::optional<std::size_t>> read(char* buffer, std::size_t size) override;
  base::Result<std::size_t> write(std::string_view bytes) override;
  base::Result<bool> flush() override;
  bool has_more() const override {
    return SSL_has_pending(ssl_.get()) != 0 || BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) > 0;
  }
  bool is_quiet() const override { return !has_more() && socket_->is_quiet(); }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  TlsChannel(std::unique_ptr<Socket> socket, std::string host)
      : socket_(std::move(socket)), host_(std::move(host)) {}
  base::Result<void> prepare();
  // Repeats an OpenSSL call, moving bytes between it and the socket, until it completes; returns its result,
  // 0 if the other side closed the connection, nullopt if it needs bytes that have not arrived.
  template <class Call>
  base::Result<std::optional<int>> drive(Call call);
  // Gives OpenSSL bytes that have arrived. Returns false if there are none.
  base::Result<bool> fill();

  const std::unique_ptr<Socket> socket_;
  const std::string host_;
  std::unique_ptr<SSL, Free> ssl_;
  std::string unsent_;       // taken from OpenSSL; did not fit into the socket
  bool is_cut_off_ = false;  // the socket takes no more bytes
};

}  // namespace baton::outbound
