// The bench's stream client. It reads the request's body from the file named by --body, and replaces "@ID@"
// in it by a new id for each request.
//
//   client churn  --port P --path / --body F --connections N --seconds S [--header H]...
//     each connection sends, reads the response to its end and begins again; prints one JSON object
//   client series ...   one request; prints when each event of its stream came, in ms
//   client stand  ...   N requests at once, then commands on standard input, each answered by a JSON object:
//     touch FILE    makes the file; the time begins
//     events K      waits until every response has K events
//     ends          waits until every response is whole
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "client/crowd.h"

namespace baton::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
constexpr auto kPatience = std::chrono::seconds(120);
const auto kNever = [] { return false; };

struct Order {
  std::string what;
  Target target;
  std::size_t connections = 1;
  double seconds = 1;
};

double since(Clock::time_point began, Clock::time_point now) {
  return Milliseconds(now - began).count();
}

double percentile(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * double(sorted.size())))];
}

// Removes the characters of a server's error text that JSON would need escaped.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32; });
  return text;
}

std::string failures_of(const Crowd& crowd) {
  return "\"failures\":" + std::to_string(crowd.failures()) + ",\"why\":\"" + plain(crowd.why()) + "\"";
}

int churn(const Order& order) {
  Crowd crowd(order.target, order.connections);
  std::vector<double> lives;
  std::size_t events = 0;
  bool measuring = false, over = false;
  const auto on_news = [&](Crowd::Member& member) {
    if (!member.reader.whole()) return;
    if (measuring) {
      lives.push_back(since(member.began, member.last));
      events += static_cast<std::size_t>(member.reader.events());
    }
    if (!over) crowd.again(member);
  };
  crowd.open(on_news);
  measuring = true;
  const auto began = Clock::now();
  crowd.run(began + std::chrono::milliseconds(static_cast<int>(order.seconds * 1000)), on_news, kNever);
  measuring = false, over = true;
  const double took = since(began, Clock::now()) / 1000;
  std::ranges::sort(lives);
  std::printf("{\"count\":%zu,\"seconds\":%.4f,\"events\":%zu,\"p50_ms\":%.4f,\"p99_ms\":%.4f,%s}\n",
              lives.size(), took, events, percentile(lives, 0.5), percentile(lives, 0.99),
              failures_of(crowd).c_str());
  return 0;
}

int series(const Order& order) {
  Crowd crowd(order.target, 1);
  std::vector<double> arrivals;
  const auto on_news = [&](Crowd::Member& member) {
    arrivals.resize(static_cast<std::size_t>(member.reader.events()), since(member.began, member.last));
  };
  crowd.open(on_news);
  const Crowd::Member& one = crowd.members().front();
  crowd.run(Clock::now() + kPatience, on_news, [&] { return one.reader.whole() || one.failed; });
  std::printf("{\"arrivals_ms\":[");
  for (std::size_t i = 0; i < arrivals.size(); ++i) std::printf("%s%.3f", i == 0 ? "" : ",", arrivals[i]);
  std::printf("],%s}\n", failures_of(crowd).c_str());
  return 0;
}

// Waits until `reached` is true for every member, and prints when it became true for the first and the last.
template <class Reached>
void await(Crowd& crowd, Clock::time_point began, const Reached& reached) {
  std::size_t there = 0;
  auto first = Clock::time_point::max(), last = began;
  std::vector<bool> counted(crowd.members().size());
  const auto look = [&](Crowd::Member& member) {
    const auto index = static_cast<std::size_t>(&member - crowd.members().data());
    if (counted[index] || !reached(member)) return;
    counted[index] = true;
    ++there;
    first = std::min(first, member.last);
    last = std::max(last, member.last);
  };
  for (Crowd::Member& member : crowd.members()) look(member);
  crowd.run(Clock::now() + kPatience, look,
            [&] { return there + crowd.failures() >= crowd.members().size(); });
  std::printf("{\"count\":%zu,\"first_ms\":%.3f,\"last_ms\":%.3f,%s}\n", there,
              there == 0 ? 0 : since(began, first), since(began, last), failures_of(crowd).c_str());
}

int stand(const Order& order) {
  Crowd crowd(order.target, order.connections);
  auto began = Clock::now();
  crowd.open([](Crowd::Member&) {});
  std::printf("{\"open_ms\":%.1f,%s}\n", since(began, Clock::now()), failures_of(crowd).c_str());
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string word, argument;
    words >> word >> argument;
    if (word == "touch") {
      began = Clock::now();
      std::ofstream(argument).flush();
      std::printf("{}\n");
    } else if (word == "events") {
      const int least = std::stoi(argument);
      await(crowd, began, [&](const Crowd::Member& member) { return member.reader.events() >= least; });
    } else if (word == "ends") {
      await(crowd, began, [](const Crowd::Member& member) { return member.reader.whole(); });
    }
    std::fflush(stdout);
  }
  return 0;
}

std::string text_of_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Order read_order(int argc, char** argv) {
  Order order;
  order.what = argc > 1 ? argv[1] : "";
  order.target.host = "127.0.0.1";
  order.target.path = "/";
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--port") order.target.port = std::stoi(value);
    if (name == "--path") order.target.path = value;
    if (name == "--body") order.target.body = text_of_file(value);
    if (name == "--header") order.target.headers.push_back(value);
    if (name == "--connections") order.connections = std::stoul(value);
    if (name == "--seconds") order.seconds = std::stod(value);
  }
  return order;
}

int run(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const Order order = read_order(argc, argv);
  if (order.what == "churn") return churn(order);
  if (order.what == "series") return series(order);
  if (order.what == "stand") return stand(order);
  std::fprintf(stderr, "usage: client churn|series|stand --port P ...\n");
  return 2;
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  return baton::bench::run(argc, argv);
}
