// The maximum rate of answers by one thread on this machine: every request gets the same answer.
#include "limit/share/fixed_answer.h"
#include "limit/share/tiny_http.h"

int main() {
  const std::string answer = baton::bench::fixed_answer();
  baton::bench::TinyHttp* server = nullptr;
  baton::bench::TinyHttp http([&](int connection, std::string_view) { server->answer(connection, answer); });
  server = &http;
  http.listen();
  http.run();
}
