// HttpServer over TLS, on sockets.
#include <doctest/doctest.h>

#include <string>

#include "http/http_server.h"
#include "http/tls/identity.h"
#include "unit/http/loopback.h"
#include "unit/http/tls_files.h"

namespace tls_server_test {

using namespace baton::http;
using namespace baton::http::loopback;
using namespace baton::http::tls_files;
using baton::test::TempFolder;

namespace {

struct SecureServer {
  explicit SecureServer(const Limits& limits = {}, Handler handler = echo)
      : identity(tls::Identity::open({{{write_pair(folder, "a", "DNS:a.test"), {}}}, {}, {}, false}).value()),
        server(limits, std::move(handler), plain_error),
        port(server.start("127.0.0.1", 0, identity.get()).value()) {}
  const TempFolder folder;
  const std::unique_ptr<tls::Identity> identity;
  HttpServer server;
  const int port;
};

// A client whose calls wait.
class SecureClient {
 public:
  explicit SecureClient(int port) : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    REQUIRE(plain_.connect(port));
    ssl_ = {SSL_new(context_.get()), &SSL_free};
    SSL_set_fd(ssl_.get(), plain_.fd());
    REQUIRE(SSL_connect(ssl_.get()) == 1);
  }
  void send(std::string_view bytes) { SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())); }
  // Returns all bytes up to the mark or to the end.
  std::string read_to(std::string_view mark) {
    std::size_t at;
    while ((at = received_.find(mark)) == std::string::npos) {
      char buffer[16384];
      const int got = SSL_read(ssl_.get(), buffer, sizeof buffer);
      if (got <= 0) return std::exchange(received_, {});
      received_.append(buffer, static_cast<std::size_t>(got));
    }
    std::string taken = received_.substr(0, at + mark.size());
    received_.erase(0, taken.size());
    return taken;
  }
  std::string read_to_end() { return read_to(std::string("\0no answer has this", 19)); }
  // True if the server ended the connection as TLS demands.
  bool was_told() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

 private:
  Client plain_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
  std::string received_;
};

}  // namespace

TEST_CASE(
    "HttpServer over TLS: pipelined requests, large bodies and the end of a connection are as without") {
  SecureServer test;
  SecureClient client(test.port);
  // Many requests in one record, of which the server reads a part at a time.
  std::string all;
  for (int i = 0; i < 100; ++i) all += post("/" + std::to_string(i), "x.");
  client.send(all);
  for (int i = 0; i < 100; ++i) {
    const std::string end = "POST /" + std::to_string(i) + " x.";
    CHECK(client.read_to(end).find("HTTP/1.1 200") == 0);
  }
  const std::string big(5'000'000, 'b');
  client.send(post("/big", big + "!", "Connection: close\r\n"));
  const std::string answer = client.read_to_end();
  CHECK(answer.find("Connection: close") != std::string::npos);
  CHECK(answer.ends_with("POST /big " + big + "!"));
  CHECK(client.was_told());
  CHECK(test.server.counts().requests == 101);
  CHECK(test.server.counts().handshakes->completed == 1);
}

TEST_CASE("HttpServer over TLS: plain HTTP gets 400, and garbage and old versions are closed") {
  SecureServer test;
  for (const std::string method : {"GET", "POST", "PATCH", "CONNECT"}) {
    Client plain(test.port);
    const Answer answer = plain.ask(method + " / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(answer.status == 400);
    CHECK(answer.body == "error: this port speaks TLS: use https");
    CHECK(answer.has("Connection: close"));
    plain.end_sending();
    CHECK(plain.read_to_end().empty());
  }
  Client garbage(test.port);
  garbage.send(std::string(100, '\x01'));
  garbage.read_to_end();  // an alert, perhaps
  Client silent(test.port);
  silent.end_sending();
  CHECK(silent.read_to_end().empty());
  CHECK(eventually([&] {
    const auto counts = *test.server.counts().handshakes;
    return counts.plain == 4 && counts.failed == 2 && counts.under_way == 0;
  }));
  CHECK(eventually([&] { return test.server.counts().connections == 0; }));
}

TEST_CASE(
    "HttpServer over TLS: a connection above the limit gets 503, and an idle one is ended with a notice") {
  Limits limits;
  limits.connections_max = 1;
  limits.idle_time = baton::test::patience() / 60;  // longer than the second handshake takes
  SecureServer test(limits);
  SecureClient first(test.port), second(test.port);
  second.send(get("/"));
  CHECK(second.read_to_end().find("HTTP/1.1 503") == 0);
  CHECK(first.read_to_end().empty());
  CHECK(first.was_told());
}

TEST_CASE("HttpServer over TLS: while all places for handshakes are taken, unfinished ones make room") {
  Limits limits;
  limits.handshakes_max = 2;
  limits.handshake_time = std::chrono::minutes(10);
  SecureServer test(limits);
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(std::make_unique<Client>(test.port));
  SecureClient late(test.port);  // after two rounds of silent ones
  late.send(get("/"));
  CHECK(late.read_to("GET /").find("HTTP/1.1 200") == 0);
  CHECK(test.server.counts().handshakes->late >= 4);
  CHECK(test.server.counts().handshakes->under_way <= 2);
  // Those that are under way are dropped when the server stops.
  const Client last(test.port);
  test.server.stop(std::chrono::milliseconds(0));
}

TEST_CASE("HttpServer over TLS: a reader that does not read costs no thread, and gets all bytes in the end") {
  const std::string big(20'000'000, 'b');
  SecureServer test({}, [&](const std::shared_ptr<Exchange>& exchange) {
    Reply reply;
    reply.body = exchange->request().path == "/big" ? big : "small";
    exchange->reply(std::move(reply));
  });
  SecureClient slow(test.port), quick(test.port);
  slow.send(get("/big"));
  for (int i = 0; i < 20; ++i) {
    quick.send(get("/"));
    CHECK(quick.read_to("small").find("HTTP/1.1 200") == 0);
  }
  slow.send(get("/", "Connection: close\r\n"));
  const std::string all = slow.read_to_end();
  CHECK(all.size() > big.size());
  CHECK(all.ends_with("small"));
}

}  // namespace tls_server_test
