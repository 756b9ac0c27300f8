#include "cli/ops_session.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "task/short_id.h"

namespace baton::cli {
namespace {

constexpr int kTriesMax = 5;
constexpr std::chrono::seconds kRetryAfter{1};  // the server's Retry-After; the header itself is not read
// A search stops after so many tasks whose ids only contain the text. An exact match among them still wins.
constexpr std::size_t kNamedMax = 1'000, kNamedShown = 5;

struct OptionName {
  std::string_view member, option;
};
constexpr std::array kOptionNames{OptionName{"age_min_s", "--age"}, OptionName{"attempts_min", "--attempts"},
                                  OptionName{"children", "--own-children"},
                                  OptionName{"overlapSeconds", "--overlap"}};

// Ids that Baton makes begin with a zero; keys do not.
bool is_key(std::string_view text) {
  return !text.empty() && text.front() != '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

// Retries 429: the server runs one exact count at a time.
std::optional<json::Document> OpsSession::get(const std::string& path) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  auto answer = api_.get(path);
  for (int tries = 1; !answer && answer.error().status == 429 && tries < kTriesMax; ++tries) {
    if (interrupt_.wait(kRetryAfter)) break;
    answer = api_.get(path);
  }
  return read_answer(std::move(answer), path);
}

std::optional<json::Document> OpsSession::post(const std::string& path, std::string body) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  return read_answer(api_.post(path, std::move(body)), path);
}

std::optional<json::Document> OpsSession::remove(const std::string& path, std::string body) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  return read_answer(api_.remove(path, std::move(body)), path);
}

std::optional<std::string> OpsSession::find_task(const std::string& named) {
  if (is_key(named) && !task::is_short_id(named)) return named;
  std::vector<std::pair<std::string, std::string>> whole, parts;  // key, description
  std::string cursor;
  do {
    const auto page = get(with_query("/tasks", {{"id", named}, {"limit", "200"}, {"cursor", cursor}}));
    if (!page) return std::nullopt;
    for (const json::Value row : page->root()["tasks"]) {
      std::string words = text_in(row, "key") + " (" + text_in(row, "id") + " of " + text_in(row, "caller") +
                          " at " + text_in(row, "agent") + ")";
      auto& found = row["id"].string() == named ? whole : parts;
      found.emplace_back(text_in(row, "key"), std::move(words));
    }
    const std::string next = page->root()["next"].str();
    if (next == cursor) break;
    cursor = next;
  } while (!cursor.empty() && parts.size() <= kNamedMax && !interrupt_.pending());
  if (interrupt_.pending()) {
    code_ = kExitInterrupted;
    return std::nullopt;
  }
  if (whole.empty() && named.size() < task::kIdPartMin) parts.clear();
  const auto& meant = whole.empty() ? parts : whole;
  if (meant.size() == 1) return meant.front().first;
  if (meant.empty() && is_key(named)) return named;
  code_ = kExitUsage;
  if (meant.empty()) {
    console_.error(printable_line("no task has the key or id " + named +
                                  ", or an id that begins or ends with it; a part needs at least " +
                                  std::to_string(task::kIdPartMin) + " characters"));
    return std::nullopt;
  }
  std::string line = named + " matches several tasks; name one by its key:";
  for (std::size_t i = 0; i < meant.size() && i < kNamedShown; ++i)
    line += (i == 0 ? " " : ", ") + meant[i].second;
  console_.error(printable_line(line + (meant.size() > kNamedShown ? ", ..." : "")));
  return std::nullopt;
}

bool OpsSession::find_tasks_in(OpsFilter& filter) {
  for (auto& [name, value] : filter) {
    if ((name != "parent" && name != "task") || value.empty()) continue;
    auto key = find_task(value);
    if (!key) return false;
    value = std::move(*key);
  }
  return true;
}

void OpsSession::complain(const client::CallError& error, const std::string& path) {
  code_ = interrupt_.pending() ? kExitInterrupted : kExitNoAnswer;
  if (code_ == kExitInterrupted) return;
  if (const auto typed = error_of_option(error.text)) return console_.error(printable_line(*typed));
  std::string line = printable_line(api_.url_of(path)) + ": " + printable_line(error.text);
  if (error.status == 401) line += "; set BATON_TOKEN to a viewer's or operator's token";
  console_.error(line);
}

std::optional<json::Document> OpsSession::read_answer(client::OperatorApi::Answer answer,
                                                      const std::string& path) {
  if (!answer) {
    complain(answer.error(), path);
    return std::nullopt;
  }
  auto document = json::Document::parse(std::move(*answer));
  if (document && document->root().is_object()) return std::move(*document);
  code_ = kExitNoAnswer;
  console_.error("the server's answer is invalid; is there an operator API at " +
                 printable_line(api_.url_of("")) + "?");
  return std::nullopt;
}

std::optional<std::string> error_of_option(std::string_view error) {
  for (const auto& [member, option] : kOptionNames) {
    if (error.starts_with(member) && error.substr(member.size()).starts_with(":"))
      return std::string(option).append(error.substr(member.size()));
  }
  return std::nullopt;
}

std::string with_query(std::string path, const OpsFilter& parameters) {
  char mark = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    path += mark + name + "=" + base::percent_encoded(value);
    mark = '&';
  }
  return path;
}

}  // namespace baton::cli
