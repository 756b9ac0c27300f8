// `discover --check`: reads a server's catalog of agents as a registry does.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "cli/card_check.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "client/catalog_places.h"
#include "protocol/discovery/catalog.h"
#include "protocol/discovery/server_card.h"

namespace baton::cli {
namespace {

using json::Value;
using protocol::discovery::CatalogProblem;

// Prints what was read, with its problems, and counts them.
class Report {
 public:
  void good(const std::string& line) { std::printf("%s\n", printable_line(line).c_str()); }
  void error(const std::string& line) {
    ++errors_;
    std::printf("  error: %s\n", printable_line(line).c_str());
  }
  void warning(const std::string& line) {
    ++warnings_;
    std::printf("  warning: %s\n", printable_line(line).c_str());
  }
  void problems(const std::vector<CatalogProblem>& found) {
    for (const CatalogProblem& problem : found) {
      const std::string line = (problem.pointer.empty() ? "" : problem.pointer + ": ") + problem.reason;
      problem.is_error ? error(line) : warning(line);
    }
  }
  int end() const {
    std::printf("%s, %s\n", base::counted(errors_, "error").c_str(),
                base::counted(warnings_, "warning").c_str());
    return errors_ == 0 ? kExitDone : kExitFailed;
  }

 private:
  std::int64_t errors_ = 0, warnings_ = 0;
};

// Reads a JSON document; prints why it cannot.
std::optional<json::Document> read(const std::string& url, Report& report) {
  const auto fetched = client::http_get(url, {}, {});
  if (!fetched) {
    report.error(url + ": " + fetched.error().text);
    return std::nullopt;
  }
  auto document = json::Document::parse(fetched->text);
  if (document) return std::move(*document);
  report.error(url + ": " + document.error().for_caller);
  return std::nullopt;
}

void check_entry(Value entry, Report& report) {
  const std::string url = entry["url"].str();
  if (url.empty()) return;
  report.good(entry["identifier"].str() + ": " + url);
  const auto card = read(url, report);
  if (!card) return;
  if (entry["type"].string() == protocol::discovery::kA2aCard) {
    for (const std::string& problem : check_card(card->root())) report.error(problem);
  } else if (entry["type"].string() == protocol::discovery::kMcpCard) {
    report.problems(protocol::discovery::check_server_card(card->root()));
  }
}

struct Found {
  client::CatalogPlace place;
  std::string text;
};

// Reads the catalogs; prints those that are named but cannot be read. `why`: why the first one cannot.
std::vector<Found> find_catalogs(const std::string& url, Report& report, std::string& why) {
  std::vector<Found> found;
  for (client::CatalogPlace& place : client::catalog_places(url, {})) {
    auto fetched = client::http_get(place.url, {}, {});
    if (!fetched && why.empty()) why = place.url + ": " + fetched.error().text;
    if (fetched) {
      found.push_back({std::move(place), std::move(fetched->text)});
    } else if (place.is_named) {
      report.error(place.url + " (" + place.found_by + "): " + fetched.error().text);
    }
  }
  return found;
}

}  // namespace

int discover_command(const std::string& url) {
  Report report;
  std::string why;
  const auto found = find_catalogs(url, report, why);
  if (found.empty()) {
    std::fprintf(stderr, "baton: %s publishes no catalog of agents (%s)\n", printable_line(url).c_str(),
                 printable_line(why).c_str());
    return kExitNoAnswer;
  }
  for (const Found& one : found) {
    report.good(one.place.url + " (" + one.place.found_by + ")");
    if (one.text != found.front().text) report.warning("differs from the first one");
  }
  const auto catalog = json::Document::parse(found.front().text);
  if (!catalog) {
    report.error(catalog.error().for_caller);
    return report.end();
  }
  report.problems(protocol::discovery::check_catalog(
      catalog->root(), protocol::discovery::publisher_of(found.front().place.url)));
  for (const Value entry : catalog->root()["entries"]) check_entry(entry, report);
  return report.end();
}

}  // namespace baton::cli
