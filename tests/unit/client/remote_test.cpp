#include "client/remote.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "client/grpc_channel.h"
#include "unit/outbound/raw_server.h"

namespace baton::client::remote_test {
namespace {

using task::ProtocolVersion;

// The interfaces to try, in order, each as "1.0 http://h/a".
std::vector<std::string> chosen(std::string_view card, std::string_view a2a = "",
                                Purpose purpose = Purpose::tasks, std::string_view transport = "") {
  const auto read = protocol::read_remote_card(card);
  REQUIRE(read.has_value());
  std::vector<std::string> found;
  for (const Remote& remote : choose_remotes(*read, a2a, purpose, transport)) {
    protocol::a2a::SendRequest send;
    send.submission.message.parts = {task::Part::of_text("x")};
    const bool rest = !remote.dialect->write_send(send, false).path.empty();
    const char* how = remote.over_grpc ? " gRPC " : rest ? " REST " : " ";
    found.push_back(std::string(protocol::name_of(remote.dialect->version())) + how + remote.url);
  }
  return found;
}

std::string card_of(const std::vector<std::array<std::string, 3>>& interfaces) {
  std::string list;
  for (const auto& [url, binding, version] : interfaces) {
    list += (list.empty() ? "" : ",") + std::string(R"({"url":")") + url + R"(","protocolBinding":")" +
            binding + R"(","protocolVersion":")" + version + R"("})";
  }
  return R"({"name":"n","capabilities":{"streaming":true},"supportedInterfaces":[)" + list + "]}";
}

using Names = std::vector<std::string>;

TEST_CASE("Remote: JSON-RPC is tried before REST and newer before older, regardless of the card's order") {
  const std::string card = card_of({{"http://h/r", "HTTP+JSON", "1.0"},
                                    {"http://h/old", "JSONRPC", "0.3"},
                                    {"http://h/new", "JSONRPC", "1.0"},
                                    {"h:1", "GRPC", "1.0"}});
  CHECK(chosen(card) == Names{"1.0 http://h/new"});
  CHECK(chosen(card, "0.3") == Names{"0.3 http://h/old"});
  CHECK(chosen(card, "0.2") == Names{"0.2 http://h/old"});
  CHECK(chosen(card, "0.1") == Names{"0.1 http://h/old"});
}

TEST_CASE("Remote: an agent without JSON-RPC is called over REST") {
  const std::string card = card_of({{"h:1", "GRPC", "1.0"}, {"http://h/r", "HTTP+JSON", "0.3"}});
  CHECK(chosen(card) == Names{"0.3 REST http://h/r"});
  CHECK(chosen(card, "1.0", Purpose::tasks, "rest").empty());
  CHECK(chosen(card, "", Purpose::tasks, "jsonrpc").empty());
}

TEST_CASE("Remote: gRPC is used if the card offers nothing else, or if it is asked for") {
  const std::string card =
      card_of({{"h:1", "GRPC", "1.0"}, {"h:2", "GRPC", "0.3"}, {"http://h/r", "HTTP+JSON", "1.0"}});
  const bool built = client::GrpcChannel::available();
  CHECK(chosen(card) == Names{"1.0 REST http://h/r"});
  CHECK(chosen(card, "", Purpose::tasks, "grpc") == (built ? Names{"1.0 gRPC h:1"} : Names{}));
  CHECK(chosen(card, "0.3", Purpose::tasks, "grpc") == (built ? Names{"0.3 gRPC h:2"} : Names{}));
  CHECK(chosen(card_of({{"h:1", "GRPC", "1.0"}})) == (built ? Names{"1.0 gRPC h:1"} : Names{}));
}

TEST_CASE("Remote: an agent that is called without its card is refused if every card must be signed") {
  if (!client::GrpcChannel::available()) return;
  Target target;
  target.transport = "grpc";
  target.endpoint = "h:1";
  CHECK(find_remotes(target, Purpose::tasks).has_value());
  target.accept_card = [](std::string_view, std::string_view card) -> base::Result<std::string> {
    CHECK(card.empty());
    return base::fail(base::ErrorCode::permission_denied, "no card");
  };
  const auto found = find_remotes(target, Purpose::tasks);
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().refused_card);
  CHECK(found.error().text == "no card");
}

TEST_CASE("Remote: lists use 1.0 only, over any binding that offers it") {
  const std::string old = card_of({{"http://h/old", "JSONRPC", "0.3"}});
  CHECK(chosen(old, "", Purpose::lists).empty());
  CHECK(chosen(old, "0.3", Purpose::lists).empty());
  const std::string both = card_of({{"http://h/old", "JSONRPC", "0.3"}, {"http://h/r", "HTTP+JSON", "1.0"}});
  CHECK(chosen(both, "", Purpose::lists) == Names{"1.0 REST http://h/r"});
  CHECK(chosen(both, "", Purpose::tasks) == Names{"0.3 http://h/old"});
}

TEST_CASE("Remote: a card that may be of 0.1 or 0.2 is tried as both") {
  const std::string card =
      R"({"name":"n","description":"d","version":"1","url":"http://h/a","capabilities":{},
      "defaultInputModes":["text"],"defaultOutputModes":["text"],
      "skills":[{"id":"s","name":"s","description":"d","tags":["t"]}]})";
  CHECK(chosen(card) == Names{"0.2 http://h/a", "0.1 http://h/a"});
  CHECK(chosen(card, "0.1") == Names{"0.1 http://h/a"});
}

TEST_CASE("Remote: an interface of 1.0 that may be of 0.3 is tried as both") {
  const std::string card =
      R"({"name":"n","supportedInterfaces":[{"url":"http://h/a","protocolBinding":"JSONRPC"}]})";
  CHECK(chosen(card) == Names{"1.0 http://h/a", "0.3 http://h/a"});
  CHECK(chosen(card, "0.3") == Names{"0.3 http://h/a"});
  CHECK(chosen(card, "", Purpose::lists) == Names{"1.0 http://h/a"});
}

TEST_CASE(
    "Remote: a card's URL that is a path is at the card's server, and a URL of the user's replaces any") {
  std::string url;
  test::RawServer server([&](test::RawServer&, int connection) {
    const std::string card = R"({"name":"n","protocolVersion":"0.3.0","url":")" + url + R"("})";
    test::RawServer::say(connection,
                         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                         "Content-Length: " +
                             std::to_string(card.size()) + "\r\n\r\n" + card);
  });
  const std::string origin = server.url().substr(0, server.url().rfind('/'));
  struct Row {
    std::string url, endpoint, found;
  };
  const std::vector<Row> table{
      {"/a2a/x", "", origin + "/a2a/x"},
      {"http://h/a", "", "http://h/a"},
      {"//h/a", "", ""},
      {"localhost:8000", "", ""},
      {"localhost:8000", "http://h/b", "http://h/b"},
      {"/a2a/x", "http://h/b", "http://h/b"},
  };
  for (const Row& row : table) {
    CAPTURE(row.url);
    url = row.url;
    Target target;
    target.url = origin;
    target.endpoint = row.endpoint;
    const auto found = find_remotes(target, Purpose::tasks);
    CHECK((found ? found->front().url : "") == row.found);
  }
}

TEST_CASE("Remote: other URLs than HTTP are not tried") {
  CHECK(chosen(card_of({{"file:///etc/passwd", "JSONRPC", "1.0"}})).empty());
  CHECK(chosen(card_of({{"", "JSONRPC", "1.0"}, {"http://h/x", "JSONRPC", "1.0"}})) ==
        Names{"1.0 http://h/x"});
}

TEST_CASE("Remote: streams are used only if the card declares them") {
  const auto card = protocol::read_remote_card(std::string_view(R"({"name":"n","supportedInterfaces":[
          {"url":"http://h/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})"));
  REQUIRE(card.has_value());
  REQUIRE(choose_remotes(*card, "", Purpose::tasks).size() == 1);
  CHECK_FALSE(choose_remotes(*card, "", Purpose::tasks)[0].streams);
}

}  // namespace
}  // namespace baton::client::remote_test
