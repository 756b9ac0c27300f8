#include "http/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "http/tls/ssl_outcome.h"

namespace baton::http {
namespace {

// Bytes that one call may take from the socket. Records without data, such as changes of keys, must not keep
// the thread.
constexpr std::size_t kReceiveMax = 20 << 10;

}  // namespace

// Unlike OpenSSL's own, it raises no SIGPIPE, and knows when the socket is empty.
struct TlsSession::Bio {
  static TlsSession& session(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* out, int size) {
    TlsSession& self = session(bio);
    BIO_clear_retry_flags(bio);
    if (self.room_ == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    ssize_t got;
    do {
      got = ::recv(self.fd_, out, static_cast<std::size_t>(size), 0);
    } while (got < 0 && errno == EINTR);
    self.drained_ = got < size;
    if (got > 0) self.room_ -= std::min(self.room_, static_cast<std::size_t>(got));
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    return static_cast<int>(got);
  }

  static int write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    ssize_t sent;
    do {
      sent = ::send(session(bio).fd_, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "baton socket");
      if (method == nullptr) throw std::bad_alloc();
      BIO_meth_set_read(method, &Bio::read);
      BIO_meth_set_write(method, &Bio::write);
      BIO_meth_set_ctrl(method, &Bio::control);
      return method;
    }();
    return made;
  }
};

TlsSession::TlsSession(int fd, std::shared_ptr<const tls::Contexts> contexts)
    : fd_(fd), contexts_(std::move(contexts)), ssl_(SSL_new(contexts_->first())) {
  BIO* const bio = ssl_ ? BIO_new(Bio::method()) : nullptr;
  ERR_clear_error();
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_accept_state(ssl_.get());
}

TlsSession::Shake TlsSession::shake() {
  ERR_clear_error();
  room_ = kReceiveMax;
  switch (tls::ssl_outcome(ssl_.get(), SSL_do_handshake(ssl_.get()))) {
    case tls::SslOutcome::done:
      if (contexts_ && contexts_->clients().are_asked()) peer_ = tls::peer_of(ssl_.get());
      contexts_.reset();
      return Shake::done;
    case tls::SslOutcome::wants_read:
    case tls::SslOutcome::wants_write:
      return Shake::waits;
    default:
      usable_ = false;
      failure_ = tls::take_failure().reason;
      if (failure_.empty()) failure_ = "the client has closed the connection";
      return Shake::failed;
  }
}

IoResult TlsSession::receive(char* out, std::size_t size) {
  if (!usable_) return {IoResult::Outcome::closed};
  ERR_clear_error();
  room_ = kReceiveMax;
  drained_ = false;  // bytes may have come since the last look, which raised their event already
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), out, size, &got);
  switch (tls::ssl_outcome(ssl_.get(), result)) {
    case tls::SslOutcome::done:
      // Bytes that OpenSSL holds raise no event.
      return {IoResult::Outcome::moved, got, drained_ && SSL_has_pending(ssl_.get()) == 0};
    case tls::SslOutcome::wants_read:
      return {IoResult::Outcome::blocked, 0, drained_};
    case tls::SslOutcome::wants_write:
      return {IoResult::Outcome::crossed};
    case tls::SslOutcome::ended:
      return {IoResult::Outcome::closed};
    case tls::SslOutcome::failed:
      break;
  }
  usable_ = false;
  ERR_clear_error();
  return {IoResult::Outcome::closed};
}

IoResult TlsSession::send(std::string_view bytes) {
  if (!usable_) return {IoResult::Outcome::closed};
  ERR_clear_error();
  room_ = kReceiveMax;
  std::size_t sent = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
  switch (tls::ssl_outcome(ssl_.get(), result)) {
    case tls::SslOutcome::done:
      return {IoResult::Outcome::moved, sent};
    case tls::SslOutcome::wants_write:
      return {IoResult::Outcome::blocked};
    case tls::SslOutcome::wants_read:
      return {IoResult::Outcome::crossed};
    default:
      usable_ = false;
      ERR_clear_error();
      return {IoResult::Outcome::closed};
  }
}

void TlsSession::end_sending() {
  if (!usable_ || std::exchange(ended_, true)) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace baton::http
