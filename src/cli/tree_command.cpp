// `tree`: a task and the tasks that it has delegated to, once or until it ends.
#include <algorithm>
#include <chrono>
#include <optional>

#include "app/signals.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "cli/tree_view.h"
#include "client/endpoint.h"
#include "client/remote.h"
#include "json/document.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLookFirst{500}, kLookMax{30'000};
constexpr std::chrono::seconds kPatience{60};

class TreeFollower {
 public:
  explicit TreeFollower(const TreeOptions& options) : options_(options), console_(options.client.json) {
    std::string base = client::endpoint_url(options.client.card_url(), options.client.agent);
    while (base.ends_with('/')) base.pop_back();
    url_ = base + "/tasks/" + base::percent_encoded(options.task) + "/tree";
  }

  int run() {
    std::optional<SlowNotice> notice("waiting for " + url_);
    while (true) {
      const auto begun = Clock::now();
      const auto fetched = client::http_get(url_, options_.client.access, "", interrupt_.fd());
      notice.reset();
      if (interrupt_.pending()) return kExitInterrupted;
      if (!fetched && !(fetched.error().lost && may_try_again())) return failed(fetched.error());
      std::optional<task::State> state;
      if (fetched) {
        met_at_ = Clock::now();
        const auto tree = json::Document::parse_view(fetched->text);
        state = tree ? task::state_named(tree->root()["root"]["state"].string()) : std::nullopt;
        if (!state) return nonsense();
        show(fetched->text, tree->root());
      }
      if (!options_.follow) return kExitDone;
      if (state && task::is_terminal(*state)) return exit_code_for(*state);
      // A large tree costs the server more, and is asked for less often.
      const auto cost = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
      if (interrupt_.wait(std::clamp(cost * 5, kLookFirst, kLookMax))) return kExitInterrupted;
    }
  }

 private:
  // A server that has answered before may be away for a while.
  bool may_try_again() const { return options_.follow && met_at_ && Clock::now() < *met_at_ + kPatience; }

  void show(const std::string& text, json::Value tree) {
    if (!console_.for_people()) {
      const std::string now(tree["root"].raw());
      if (now != shown_) console_.json(text);
      shown_ = now;
      return;
    }
    const std::size_t rows = options_.follow && console_.rows() > 1 ? console_.rows() - 1 : 0;
    const std::string lines = show_tree(tree, {console_.columns(), rows, console_.colours()});
    const std::string back = lines_ > 0 ? "\x1b[" + std::to_string(lines_) + "A\r\x1b[J" : "";
    console_.text(back + lines);
    lines_ = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  }

  int nonsense() {
    console_.error("the server's answer makes no sense: it is not the tree of a task");
    return kExitNoAnswer;
  }

  int failed(const client::CallError& error) {
    std::string line = describe(error, url_);
    if (error.status == 404) line += "; `baton list` shows your tasks, and --agent says whose a task is";
    console_.error(line);
    return kExitNoAnswer;
  }

  const TreeOptions& options_;
  app::Interrupt interrupt_;
  Console console_;
  std::string url_;
  std::optional<Clock::time_point> met_at_;  // the last answer
  std::string shown_;                        // the last tree that was printed as JSON
  std::size_t lines_ = 0;                    // of the last tree that was drawn
};

}  // namespace

int tree_command(TreeOptions options) {
  complete_task_id(options.client, options.task);
  return TreeFollower(options).run();
}

}  // namespace baton::cli
