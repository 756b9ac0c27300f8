// TLS of the server: certificates, the choice among them, sessions, and the outcomes of its I/O.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>

#include "http/tls/certificate.h"
#include "http/tls/identity.h"
#include "http/tls/ticket_keys.h"
#include "http/tls_session.h"
#include "unit/http/loopback.h"
#include "unit/http/tls_files.h"

namespace tls_test {

using namespace baton::http;
using namespace baton::http::tls;
using namespace baton::http::tls_files;
using baton::base::UniqueFd;
using baton::test::TempFolder;
using Outcome = IoResult::Outcome;

namespace {

std::unique_ptr<Identity> identity_of(std::initializer_list<std::string> files,
                                      const std::string& ticket_secret = {}) {
  IdentityFiles named{{}, ticket_secret, {}, false};
  for (const std::string& file : files) named.certificates.push_back({file, {}});
  auto opened = Identity::open(named);
  REQUIRE_MESSAGE(opened.has_value(), opened.error().for_log);
  return std::move(*opened);
}

// A client on memory: its bytes are moved by hand, so that a test decides what arrives when.
class Peer {
 public:
  explicit Peer(const std::string& host = {}, int version = 0, SSL_SESSION* session = nullptr)
      : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    SSL_CTX_set_max_proto_version(context_.get(), version);
    ssl_ = {SSL_new(context_.get()), &SSL_free};
    if (!host.empty()) SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    if (session != nullptr) SSL_set_session(ssl_.get(), session);
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    BIO_set_mem_eof_return(SSL_get_rbio(ssl_.get()), -1);
    SSL_set_connect_state(ssl_.get());
  }

  // OpenSSL would not resume the session of a connection that was cut off.
  ~Peer() { SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

  SSL* ssl() const { return ssl_.get(); }
  bool shake() {
    ERR_clear_error();
    return SSL_do_handshake(ssl_.get()) == 1;
  }
  std::string sent() {
    std::string all(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    BIO_read(SSL_get_wbio(ssl_.get()), all.data(), static_cast<int>(all.size()));
    return all;
  }
  void receive(std::string_view bytes) {
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }
  // Returns the records of this text.
  std::string records(std::string_view text) {
    SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
    return sent();
  }
  std::string read() {
    std::array<char, 20'000> text{};
    const int got = SSL_read(ssl_.get(), text.data(), text.size());
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
};

// The server's side on one end of a pair of sockets; the test writes to and reads from the other end.
struct Pair {
  explicit Pair(const Identity& identity) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    near = UniqueFd(ends[0]);
    far = UniqueFd(ends[1]);
    session = std::make_unique<TlsSession>(near.get(), identity.contexts());
  }
  void put(std::string_view bytes) const {
    REQUIRE(::write(far.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  std::string take() const {
    std::string all(1 << 20, '\0');
    const ssize_t got = ::read(far.get(), all.data(), all.size());
    all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return all;
  }
  // Returns true if both sides complete the handshake.
  bool shake(Peer& peer) const {
    for (int i = 0; i < 10; ++i) {
      const bool is_done = peer.shake();
      put(peer.sent());
      const auto shaken = session->shake();
      if (is_done && shaken == TlsSession::Shake::done) {
        peer.receive(take());
        peer.read();  // a ticket
        return true;
      }
      if (shaken == TlsSession::Shake::failed) return false;
      peer.receive(take());
    }
    return false;
  }
  IoResult receive(std::string& text, std::size_t size = 64 << 10) const {
    text.resize(size);
    const IoResult got = receive_some(near.get(), session.get(), text.data(), size);
    text.resize(got.count);
    return got;
  }

  UniqueFd near, far;
  std::unique_ptr<TlsSession> session;
};

std::string name_of(const SSL* ssl) {
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl), &X509_free);
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(shown.get(), NID_subject_alt_name, nullptr, nullptr));
  const ASN1_STRING* const first = sk_GENERAL_NAME_value(names, 0)->d.dNSName;
  std::string name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(first)),
                   static_cast<std::size_t>(ASN1_STRING_length(first)));
  GENERAL_NAMES_free(names);
  return name;
}

}  // namespace

TEST_CASE("Certificate: files that cannot be used are refused with the file and the reason") {
  const TempFolder folder;
  const Key mine = new_key(), other = new_key();
  const std::string certificate = certificate_for(mine, "DNS:a.test");
  const auto refusal = [&](const std::string& chain, const std::string& key) {
    const std::string chain_file = folder.write("chain.pem", chain), key_file = folder.write("key.pem", key);
    const auto read = Certificate::read({chain_file, key.empty() ? std::string() : key_file});
    REQUIRE(!read);
    CHECK(read.error().for_log.find("PRIVATE") == std::string::npos);
    return read.error().for_log;
  };
  CHECK(refusal(certificate, pem_of(other)).find("does not belong to the certificate") != std::string::npos);
  CHECK(refusal("nothing", pem_of(mine)).find("chain.pem: has no certificate in PEM form") !=
        std::string::npos);
  CHECK(refusal(certificate + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", pem_of(mine))
            .find("cannot be read") != std::string::npos);
  CHECK(refusal(certificate, "nothing").find("key.pem: has no private key") != std::string::npos);
  CHECK(refusal(certificate, {}).find("chain.pem: has no private key") != std::string::npos);
  const Bio locked(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(locked.get(), mine.get(), EVP_aes_256_cbc(),
                           reinterpret_cast<const unsigned char*>("secret"), 6, nullptr, nullptr);
  CHECK(refusal(certificate, text_of(locked)).find("is encrypted") != std::string::npos);
  CHECK(Certificate::read({folder.path() / "none", {}}).error().for_log.find("cannot be read") !=
        std::string::npos);
}

TEST_CASE("Certificate: names are matched as hosts, wildcards for one label") {
  const TempFolder folder;
  const auto read =
      Certificate::read({write_pair(folder, "a", "DNS:A.test,DNS:*.b.test", -60, 7200), {}}).value();
  CHECK(read.names() == std::vector<std::string>{"a.test", "*.b.test"});
  CHECK(read.has_name("a.test"));
  CHECK_FALSE(read.has_name("x.b.test"));
  CHECK(read.has_wildcard_for("x.b.test"));
  CHECK_FALSE(read.has_wildcard_for("y.x.b.test"));
  CHECK_FALSE(read.has_wildcard_for("b.test"));
  CHECK_FALSE(read.has_wildcard_for(".b.test"));
  CHECK(read.ends() - read.begins() == std::chrono::seconds(7260));
  CHECK(read.chain_pem() + read.key_pem() == TempFolder::read(folder.path() / "a.pem"));
}

TEST_CASE("Contexts: a client gets the certificate of its host, then a wildcard's, then the first") {
  const TempFolder folder;
  const auto identity =
      identity_of({write_pair(folder, "first", "DNS:first.test"), write_pair(folder, "wild", "DNS:*.test"),
                   write_pair(folder, "exact", "DNS:exact.test")});
  const auto shown = [&](const std::string& host) {
    Peer peer(host);
    REQUIRE(Pair(*identity).shake(peer));
    return name_of(peer.ssl());
  };
  CHECK(shown("") == "first.test");
  CHECK(shown("exact.test") == "exact.test");
  CHECK(shown("EXACT.test") == "exact.test");
  CHECK(shown("other.test") == "*.test");
  CHECK(shown("unknown.example") == "first.test");
}

TEST_CASE("Contexts: of an RSA and an ECDSA certificate for a host, a client gets ECDSA if it can") {
  const TempFolder folder;
  const Key rsa(EVP_RSA_gen(2048), &EVP_PKEY_free);
  const std::string old = folder.write("rsa.pem", certificate_for(rsa, "DNS:a.test") + pem_of(rsa)).string(),
                    both = write_pair(folder, "both", "DNS:a.test,DNS:b.test"),
                    expired = write_pair(folder, "expired", "DNS:a.test", -7200, -3600);
  // Returns the kind of key that is presented, or EVP_PKEY_NONE if the handshake fails.
  const auto presented = [](const Identity& at, const std::string& host, int version, const char* takes) {
    Peer peer(host, version);
    REQUIRE(SSL_set1_sigalgs_list(peer.ssl(), takes) == 1);
    if (!Pair(at).shake(peer)) return EVP_PKEY_NONE;
    const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(peer.ssl()),
                                                            &X509_free);
    return EVP_PKEY_get_base_id(X509_get0_pubkey(shown.get()));
  };
  constexpr const char* kAll = "RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA256";
  constexpr const char* kRsa = "RSA-PSS+SHA256:RSA+SHA256";
  const auto first_rsa = identity_of({old, both}), first_ecdsa = identity_of({both, old}),
             stale = identity_of({old, expired});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    for (const Identity* each : {first_rsa.get(), first_ecdsa.get()}) {
      CHECK(presented(*each, "a.test", version, kAll) == EVP_PKEY_EC);
      CHECK(presented(*each, "b.test", version, kAll) == EVP_PKEY_EC);
      CHECK(presented(*each, "b.test", version, kRsa) == EVP_PKEY_NONE);
    }
    CHECK(presented(*first_rsa, "a.test", version, kRsa) == EVP_PKEY_RSA);
    CHECK(presented(*stale, "a.test", version, kAll) == EVP_PKEY_RSA);
  }
}

TEST_CASE(
    "Contexts: sessions are resumed after a reload and by a server with the same secret, never with "
    "another certificate") {
  const TempFolder folder;
  const std::string a = write_pair(folder, "a", "DNS:a.test"), b = write_pair(folder, "b", "DNS:b.test");
  const std::string secret = folder.write("secret", std::string(40, 's') + "\n");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    const auto identity = identity_of({a, b}, secret);
    Peer first("a.test", version);
    REQUIRE(Pair(*identity).shake(first));
    CHECK_FALSE(SSL_session_reused(first.ssl()));
    const std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> kept(SSL_get1_session(first.ssl()),
                                                                         &SSL_SESSION_free);
    const auto resumes = [&](const Identity& at, const std::string& host) {
      Peer peer(host, version, kept.get());
      REQUIRE(Pair(at).shake(peer));
      return SSL_session_reused(peer.ssl()) == 1;
    };
    CHECK(resumes(*identity, "a.test"));
    CHECK_FALSE(resumes(*identity, "b.test"));
    write_pair(folder, "a", "DNS:a.test");  // a renewal
    REQUIRE(identity->reload({{{a, {}}, {b, {}}}, secret, {}, false}));
    CHECK(resumes(*identity, "a.test"));
    CHECK(resumes(*identity_of({a, b}, secret), "a.test"));
    CHECK_FALSE(resumes(*identity_of({a, b}), "a.test"));
  }
}

TEST_CASE("Contexts: a client's certificate is verified by its authority, and its names are known") {
  const TempFolder folder;
  const std::string server = write_pair(folder, "a", "DNS:a.test"),
                    client = write_pair(folder, "c", "URI:spiffe://test/Ann,email:ann@test,IP:127.0.0.1"),
                    stranger = write_pair(folder, "s", "URI:spiffe://test/Ann");
  for (const bool needs : {false, true}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      CAPTURE(needs);
      CAPTURE(version);
      const auto identity = Identity::open({{{server, {}}}, {}, client, needs}).value();
      const auto shakes = [&](const std::string& file, std::vector<std::string> names) {
        Peer peer({}, version);
        if (!file.empty()) {
          SSL_use_certificate_chain_file(peer.ssl(), file.c_str());
          SSL_use_PrivateKey_file(peer.ssl(), file.c_str(), SSL_FILETYPE_PEM);
        }
        const Pair pair(*identity);
        if (!pair.shake(peer)) return false;
        const auto& known = pair.session->peer();
        CHECK((known ? known->names : std::vector<std::string>()) == names);
        if (known) CHECK(known->ends > std::chrono::system_clock::now());
        CHECK(SSL_SESSION_has_ticket(SSL_get0_session(peer.ssl())) == 0);
        return true;
      };
      CHECK(shakes(client, {"URI:spiffe://test/Ann", "email:ann@test"}));
      CHECK_FALSE(shakes(stranger, {}));
      CHECK(shakes({}, {}) != needs);
    }
  }
  folder.write("none", "nothing");
  CHECK(Identity::open({{{server, {}}}, {}, folder.path() / "none", false}).error().for_log.find("none: ") !=
        std::string::npos);
}

TEST_CASE("TicketKeys: a key is accepted one period before and after its own, and replaced outside of it") {
  const TicketKeys keys(std::string(32, 'k')), same(std::string(32, 'k')), other(std::string(32, 'o'));
  const TicketKeys::Time now{std::chrono::hours(24 * 20'000)};
  const TicketKeys::Key key = keys.newest(now);
  const std::string_view name(reinterpret_cast<const char*>(key.name.data()), key.name.size());
  const auto found = [&](const TicketKeys& at, std::chrono::hours later) {
    TicketKeys::Found one;
    if (!at.find(name, now + later, one)) return "no";
    CHECK(one.key.mac == key.mac);
    CHECK(one.key.cipher == key.cipher);
    return one.is_newest ? "newest" : "older";
  };
  using std::chrono::hours;
  CHECK(found(keys, hours(0)) == std::string("newest"));
  CHECK(found(same, hours(11)) == std::string("newest"));
  CHECK(found(keys, hours(12)) == std::string("older"));
  CHECK(found(keys, hours(-1)) == std::string("older"));
  CHECK(found(keys, hours(24)) == std::string("no"));
  CHECK(found(other, hours(0)) == std::string("no"));
}

TEST_CASE("Identity: a look takes changed files, and keeps the old certificate if they cannot be used") {
  const TempFolder folder;
  const std::string file = write_pair(folder, "a", "DNS:a.test", -7200, -3600);
  const auto identity = identity_of({file});
  const auto serves = [&] { return identity->contexts()->certificates().front().names().front(); };
  CHECK_FALSE(identity->look());
  write_pair(folder, "a", "DNS:b.test");
  REQUIRE(identity->look().value());
  CHECK(serves() == "b.test");
  CHECK_FALSE(identity->look());
  const auto refused = [&](const std::string& reason) {
    const auto looked = identity->look();
    REQUIRE((looked && !*looked));
    CHECK(looked->error().for_log.find(reason) != std::string::npos);
    CHECK(serves() == "b.test");
  };
  folder.write("a.pem", certificate_for(new_key(), "DNS:c.test") + pem_of(new_key()));
  refused("does not belong to the certificate");
  write_pair(folder, "a", "DNS:c.test", -7200, -3600);
  refused("has expired");
  write_pair(folder, "a", "DNS:c.test", 3600, 7200);
  refused("is not valid yet");
  std::filesystem::remove(file);
  refused("cannot be read");
  write_pair(folder, "a", "DNS:c.test");
  REQUIRE(identity->look().value());
  CHECK(serves() == "c.test");
  folder.write("short", "too short");
  CHECK(identity->reload({{{file, {}}}, folder.path() / "short", {}, false})
            .error()
            .for_log.find("at least 32 bytes") != std::string::npos);
}

TEST_CASE("TlsSession: bytes that are decrypted, or left in the socket, are reported as not drained") {
  const TempFolder folder;
  const auto identity = identity_of({write_pair(folder, "a", "DNS:a.test")});
  Peer peer;
  const Pair pair(*identity);
  REQUIRE(pair.shake(peer));
  std::string text;
  CHECK(pair.receive(text).outcome == Outcome::blocked);
  // Records of one byte, all in the socket: each call returns one.
  std::string all;
  for (const char c : std::string("abc")) all += peer.records({&c, 1});
  pair.put(all);
  std::string got;
  for (int i = 0; i < 3; ++i) {
    const IoResult result = pair.receive(text);
    REQUIRE(result.outcome == Outcome::moved);
    got += text;
    CHECK_FALSE(result.drained);
  }
  CHECK(got == "abc");
  CHECK(pair.receive(text).drained);
  // The event of a record that comes between two calls was raised already.
  all = peer.records("d");
  all += peer.records("e");
  pair.put(all);
  CHECK_FALSE(pair.receive(text).drained);
  pair.put(peer.records("f"));
  CHECK_FALSE(pair.receive(text).drained);
  CHECK(text == "e");
  CHECK(pair.receive(text).outcome == Outcome::moved);
  CHECK(text == "f");
  // One record that is read in two parts: the second raises no event.
  pair.put(peer.records("hello"));
  CHECK_FALSE(pair.receive(text, 2).drained);
  CHECK(text == "he");
  CHECK_FALSE(pair.receive(text).drained);
  CHECK(text == "llo");
  CHECK(pair.receive(text).drained);
  // A record that arrives byte by byte.
  const std::string record = peer.records("x");
  for (const char& c : record) {
    pair.put({&c, 1});
    const IoResult result = pair.receive(text);
    CHECK(result.outcome == (&c == &record.back() ? Outcome::moved : Outcome::blocked));
    CHECK((result.drained || result.outcome == Outcome::moved));
  }
  CHECK(text == "x");
}

TEST_CASE("TlsSession: sending blocks, goes on with moved bytes, and changes of keys cross it") {
  const TempFolder folder;
  const auto identity = identity_of({write_pair(folder, "a", "DNS:a.test")});
  Peer peer;
  const Pair pair(*identity);
  REQUIRE(pair.shake(peer));
  std::string big(1 << 20, 'b');
  std::size_t sent = 0;
  const auto send_all = [&] {
    while (true) {
      const std::string moved = big.substr(sent);  // at another address each time
      const IoResult result = send_some(pair.near.get(), pair.session.get(), moved);
      if (result.outcome != Outcome::moved) return result.outcome;
      sent += result.count;
      if (sent == big.size()) return result.outcome;
    }
  };
  CHECK(send_all() == Outcome::blocked);
  // The peer asks for new keys: the answer does not fit, so receiving has to wait for room to send.
  SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED);
  pair.put(peer.records("hello"));
  std::string text;
  const Outcome crossed = pair.receive(text).outcome;
  CHECK((crossed == Outcome::crossed || crossed == Outcome::moved));
  std::string arrived;
  const auto drain = [&] {
    peer.receive(pair.take());
    for (std::string piece; !(piece = peer.read()).empty();) arrived += piece;
  };
  while (sent < big.size()) {
    drain();
    send_all();
  }
  drain();
  CHECK(arrived == big);
  if (crossed == Outcome::crossed) CHECK(pair.receive(text).outcome == Outcome::moved);
  CHECK(text == "hello");
}

TEST_CASE("TlsSession: many records without data do not keep the thread") {
  const TempFolder folder;
  const auto identity = identity_of({write_pair(folder, "a", "DNS:a.test")});
  Peer peer;
  const Pair pair(*identity);
  REQUIRE(pair.shake(peer));
  std::string updates;
  for (int i = 0; i < 4'000; ++i) {
    SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
    SSL_do_handshake(peer.ssl());
    updates += peer.sent();
  }
  pair.put(updates.substr(0, 100'000));
  std::string text;
  const IoResult first = pair.receive(text);
  CHECK(first.outcome == Outcome::blocked);
  CHECK_FALSE(first.drained);
}

TEST_CASE("TlsSession: an end with and without notice closes, and garbage does") {
  const TempFolder folder;
  const auto identity = identity_of({write_pair(folder, "a", "DNS:a.test")});
  std::string text;
  for (const std::string how : {"notice", "cut", "garbage"}) {
    CAPTURE(how);
    Peer peer;
    Pair pair(*identity);
    REQUIRE(pair.shake(peer));
    if (how == "notice") {
      SSL_shutdown(peer.ssl());
      pair.put(peer.sent());
    }
    if (how == "garbage") pair.put(std::string(100, 'g'));
    if (how == "cut") pair.far.reset();
    CHECK(pair.receive(text).outcome == Outcome::closed);
    CHECK(pair.receive(text).outcome == Outcome::closed);
    // After a notice the peer may still read.
    const Outcome sent = send_some(pair.near.get(), pair.session.get(), "bye").outcome;
    CHECK(sent == (how == "notice" ? Outcome::moved : Outcome::closed));
    end_sending(pair.near.get(), pair.session.get());
    if (how != "notice") continue;
    peer.receive(pair.take());
    CHECK(peer.read() == "bye");
    CHECK(peer.read().empty());
    CHECK((SSL_get_shutdown(peer.ssl()) & SSL_RECEIVED_SHUTDOWN) != 0);
  }
}

TEST_CASE("TlsSession: old versions, other protocols and renegotiation are refused") {
  const TempFolder folder;
  const auto identity = identity_of({write_pair(folder, "a", "DNS:a.test")});
  const auto fails = [&](Peer& peer) {
    const Pair pair(*identity);
    return !pair.shake(peer) && !pair.session->failure().empty();
  };
  const auto offers = [](Peer& peer, std::string_view list) {
    SSL_set_alpn_protos(peer.ssl(), reinterpret_cast<const unsigned char*>(list.data()),
                        static_cast<unsigned int>(list.size()));
  };
  Peer old({}, TLS1_1_VERSION);
  SSL_set_security_level(old.ssl(), 0);
  CHECK(fails(old));
  Peer h2;
  offers(h2, "\x02h2");
  CHECK(fails(h2));
  Peer both;
  offers(both, "\x02h2\x08http/1.1");
  REQUIRE(Pair(*identity).shake(both));
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(both.ssl(), &chosen, &size);
  CHECK(std::string(reinterpret_cast<const char*>(chosen), size) == "http/1.1");
  Peer renews({}, TLS1_2_VERSION);
  const Pair pair(*identity);
  REQUIRE(pair.shake(renews));
  SSL_renegotiate(renews.ssl());
  SSL_do_handshake(renews.ssl());
  pair.put(renews.sent());
  std::string text;
  CHECK(pair.receive(text).outcome == Outcome::blocked);
  renews.receive(pair.take());
  CHECK(SSL_do_handshake(renews.ssl()) != 1);
}

}  // namespace tls_test
