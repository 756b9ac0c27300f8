// `tree`: prints a task and the tasks it delegated to, once or until the task ends.
#include <algorithm>
#include <chrono>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/task_views.h"
#include "cli/tree_view.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLookFirst{500}, kLookMax{30'000};

class TreeFollower {
 public:
  explicit TreeFollower(const ViewOptions& options)
      : follow_(options.follow), views_(options.client, options.task) {}

  int run() {
    while (true) {
      const auto begun = Clock::now();
      const auto tree = views_.get("/tree", follow_);
      if (!tree) return views_.code();
      const auto state = task::state_named(tree->root()["root"]["state"].string());
      if (!state) return nonsense();
      show(tree->root());
      if (!follow_) return kExitDone;
      if (task::is_terminal(*state)) return exit_code_for(*state);
      // A large tree costs the server more, so it is requested less often.
      const auto cost = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
      if (!views_.wait(std::clamp(cost * 5, kLookFirst, kLookMax))) return views_.code();
    }
  }

 private:
  void show(json::Value tree) {
    Console& console = views_.console();
    if (!console.for_people()) {
      const std::string now(tree["root"].raw());
      if (now != shown_) console.json(tree.raw());
      shown_ = now;
      return;
    }
    const std::size_t rows = follow_ && console.rows() > 1 ? console.rows() - 1 : 0;
    const std::string lines = show_tree(tree, {console.columns(), rows, console.colours()});
    if (!console.on_terminal()) {
      // A followed tree is printed again where it has changed, apart from its times.
      const std::string now(tree["root"].raw());
      if (now != shown_) console.text((shown_.empty() ? "" : "\n") + lines);
      shown_ = now;
      return;
    }
    const std::string back = lines_ > 0 ? "\x1b[" + std::to_string(lines_) + "A\r\x1b[J" : "";
    console.text(back + lines);
    lines_ = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  }

  int nonsense() {
    views_.console().error("the server's answer is invalid: it is not a task tree");
    return kExitNoAnswer;
  }

  const bool follow_;
  TaskViews views_;
  std::string shown_;      // the last tree that was printed, as JSON
  std::size_t lines_ = 0;  // of the last tree that was drawn
};

}  // namespace

int tree_command(ViewOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
  return TreeFollower(options).run();
}

}  // namespace baton::cli
