// The maximum rate of durable sends on this machine: requests that wait for 4 dependent group commits, or
// for 1.
//
// usage: baton_bench_group_commit DATABASE COMMITS
#include <cstdlib>
#include <iostream>
#include <thread>

#include "limit/group_commit/committer.h"
#include "limit/share/fixed_answer.h"
#include "limit/share/tiny_http.h"

int main(int argc, char** argv) {
  const int commits = argc == 3 ? std::atoi(argv[2]) : 0;
  if (commits != 1 && commits != 2 && commits != 4) {
    std::cerr << "usage: baton_bench_group_commit DATABASE 1|2|4" << std::endl;
    return 2;
  }
  const std::string answer = baton::bench::fixed_answer();
  baton::bench::Committer* committer = nullptr;
  baton::bench::TinyHttp http(
      [&](int connection, std::string_view body) { committer->add(connection, body); });
  baton::bench::Committer only(argv[1], commits, [&](std::vector<int> connections) {
    http.answer_later(std::move(connections), answer);
  });
  committer = &only;
  http.listen();
  const std::jthread committing([&] { only.run(); });
  http.run();
}
