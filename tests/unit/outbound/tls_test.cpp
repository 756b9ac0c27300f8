#include "outbound/tls.h"

#include <doctest/doctest.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>

#include "base/id.h"
#include "outbound/http_client.h"
#include "outbound/tls_context.h"
#include "support/patience.h"
#include "unit/outbound/raw_server.h"
#include "unit/outbound/transports.h"

namespace tls_test {

using baton::base::ErrorCode;
using baton::outbound::client_context;
using baton::outbound::HttpRequest;
using baton::outbound::named_certificates;
using baton::test::Blocking;
using baton::test::OverLoop;
using baton::test::RawServer;

namespace {

// The files of a key and a self-signed certificate for "localhost", which is valid from an hour ago until
// `valid_until` seconds from now.
class Certificate {
 public:
  explicit Certificate(long valid_until = 3600)
      : folder_(std::filesystem::temp_directory_path() / ("baton-tls-" + baton::base::random_hex(8))) {
    std::filesystem::create_directory(folder_);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), valid_until);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1,
                               -1, 0);
    X509_set_issuer_name(made.get(), name);
    X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
    X509_add_ext(made.get(), names, -1);
    X509_EXTENSION_free(names);
    X509_sign(made.get(), key.get(), EVP_sha256());
    write("key.pem",
          [&](FILE* file) { PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    write("certificate.pem", [&](FILE* file) { PEM_write_X509(file, made.get()); });
  }
  ~Certificate() { std::filesystem::remove_all(folder_); }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  template <class Write>
  void write(const char* name, Write write_to) {
    FILE* file = std::fopen(path(name).c_str(), "w");
    REQUIRE(file != nullptr);
    write_to(file);
    std::fclose(file);
  }

  const std::filesystem::path folder_;
};

class TlsServer {
 public:
  explicit TlsServer(const Certificate& certificate)
      : server_(certificate.path("certificate.pem").c_str(), certificate.path("key.pem").c_str()) {
    server_.Post("/hook", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.body, "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~TlsServer() {
    server_.stop();
    thread_.join();
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  HttpRequest request_by(const std::string& host) const {
    HttpRequest request;
    request.url = "https://" + host + ":" + std::to_string(port_) + "/hook";
    // More than one TLS record.
    request.body = std::string(100'000, 'x');
    request.content_type = "text/plain";
    request.policy.allow_private = true;
    return request;
  }

 private:
  httplib::SSLServer server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE_TEMPLATE("TlsChannel: a server whose certificate is in the system's store is accepted and answers",
                   Transport, Blocking, OverLoop) {
  const Certificate certificate;
  setenv("SSL_CERT_FILE", certificate.path("certificate.pem").c_str(), 1);
  {
    const TlsServer server(certificate);
    const auto answer = Transport::request(server.request_by("localhost"));
    REQUIRE_MESSAGE(answer.has_value(), answer.error().for_log);
    CHECK(answer->status == 200);
    CHECK(answer->body == std::string(100'000, 'x'));

    // The same server, under a name that is not in its certificate.
    const auto wrong_name = Transport::request(server.request_by("127.0.0.1"));
    REQUIRE_FALSE(wrong_name.has_value());
    CHECK(wrong_name.error().code == ErrorCode::unavailable);
    CHECK(wrong_name.error().for_caller ==
          "the server's certificate is not trusted: its name does not match 127.0.0.1");
  }
  unsetenv("SSL_CERT_FILE");
}

TEST_CASE_TEMPLATE("TlsChannel: an answer of a server that closes without reading the body arrives",
                   Transport, Blocking, OverLoop) {
  const Certificate certificate;
  setenv("SSL_CERT_FILE", certificate.path("certificate.pem").c_str(), 1);
  {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                    &SSL_CTX_free);
    REQUIRE(SSL_CTX_use_certificate_file(context.get(), certificate.path("certificate.pem").c_str(),
                                         SSL_FILETYPE_PEM) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(context.get(), certificate.path("key.pem").c_str(),
                                        SSL_FILETYPE_PEM) == 1);
    const RawServer server(
        [&](RawServer&, int connection) {
          constexpr std::string_view kAnswer =
              "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nlong";
          const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
          SSL_set_fd(ssl.get(), connection);
          if (SSL_accept(ssl.get()) == 1)
            SSL_write(ssl.get(), kAnswer.data(), static_cast<int>(kAnswer.size()));
        },
        false);
    HttpRequest request;
    request.url = "https://localhost" + server.url().substr(server.url().rfind(':'));
    request.body.assign(16 << 20, 'x');  // more than the system takes before the server reads
    request.policy.allow_private = true;
    request.total_timeout = baton::test::patience();
    const auto answer = Transport::request(request);
    REQUIRE_MESSAGE(answer.has_value(), answer.error().for_log);
    CHECK(answer->status == 413);
    CHECK(answer->body == "long");
  }
  unsetenv("SSL_CERT_FILE");
}

TEST_CASE_TEMPLATE("TlsChannel: a failed handshake gives its reason", Transport, Blocking, OverLoop) {
  const auto error_of = [](const HttpRequest& request) {
    const auto answer = Transport::request(request);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::unavailable);
    return answer.error().for_caller;
  };
  const Certificate certificate;
  const TlsServer server(certificate);
  CHECK(error_of(server.request_by("localhost")) ==
        "the server's certificate is not trusted: self-signed certificate");

  const Certificate expired(-60);
  setenv("SSL_CERT_FILE", expired.path("certificate.pem").c_str(), 1);
  const TlsServer late(expired);
  CHECK(error_of(late.request_by("localhost")) ==
        "the server's certificate is not trusted: certificate has expired");
  unsetenv("SSL_CERT_FILE");

  RawServer plain(
      [](RawServer&, int connection) { RawServer::say(connection, "HTTP/1.1 400 Bad Request\r\n\r\n"); });
  HttpRequest request;
  request.url = "https" + plain.url().substr(4);
  request.policy.allow_private = true;
  CHECK(error_of(request) == "cannot establish a TLS connection: wrong version number");
}

TEST_CASE("client_context: it is shared until the store's file changes, and follows that file") {
  const Certificate trusted, other;
  const TlsServer server(trusted);
  const std::string store = trusted.path("store.pem");
  const auto install = [&](const Certificate& certificate) {
    // Installed as a package does it: a new file takes the place of the old one.
    std::filesystem::copy_file(certificate.path("certificate.pem"), store + ".new");
    std::filesystem::rename(store + ".new", store);
  };
  install(trusted);
  setenv("SSL_CERT_FILE", store.c_str(), 1);
  const auto context = client_context();
  CHECK(Blocking::request(server.request_by("localhost")).has_value());
  CHECK(client_context() == context);
  // A server that renegotiates cannot stop a request that is being sent.
  CHECK((SSL_CTX_get_options(context.get()) & SSL_OP_NO_RENEGOTIATION) != 0);
  install(other);
  CHECK_FALSE(Blocking::request(server.request_by("localhost")).has_value());
  CHECK(client_context() != context);
  install(trusted);
  CHECK(Blocking::request(server.request_by("localhost")).has_value());
  unsetenv("SSL_CERT_FILE");
}

TEST_CASE("named_certificates: they are those of the variables' file and folders, as OpenSSL finds them") {
  unsetenv("SSL_CERT_FILE");
  unsetenv("SSL_CERT_DIR");
  CHECK_FALSE(named_certificates().has_value());
  const Certificate in_file, in_folder, other;
  const auto text_of = [](const Certificate& certificate) {
    std::ifstream file(certificate.path("certificate.pem"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::filesystem::copy_file(in_folder.path("certificate.pem"), in_folder.path("0a1b2c3d.0"));
  // A folder's other names mean nothing to OpenSSL.
  for (const char* name : {"0a1b2c3d", "0a1b2c3d.", "0a1b2c3d.r0", "0A1B2C3D.0", "0a1b2c3d4.0"})
    std::filesystem::copy_file(other.path("certificate.pem"), in_folder.path(name));
  setenv("SSL_CERT_FILE", in_file.path("certificate.pem").c_str(), 1);
  setenv("SSL_CERT_DIR", ("/none:" + in_folder.path("")).c_str(), 1);
  CHECK(named_certificates() == text_of(in_file) + "\n" + text_of(in_folder) + "\n");
  setenv("SSL_CERT_FILE", in_file.path("none.pem").c_str(), 1);
  CHECK(named_certificates() == text_of(in_folder) + "\n");
  setenv("SSL_CERT_DIR", "/none", 1);
  CHECK(named_certificates() == std::string());  // nobody is trusted
  unsetenv("SSL_CERT_FILE");
  unsetenv("SSL_CERT_DIR");
}

}  // namespace tls_test
