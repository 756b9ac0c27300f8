// Mailbox: queue of messages from other threads to the loop. It outlives the loop; later letters are dropped.
//
// Threads: `post` from any; `take` and `close` from the loop. Many letters cause one wake-up; see
// base::Burst.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/burst.h"
#include "base/guarded.h"
#include "base/unique_fd.h"
#include "http/connection.h"

namespace baton::http {

struct StreamStart {
  HeaderList headers;
  StreamOpener opener;
};

struct Letter {
  enum class Kind {
    resume,       // the output was given back and there is more to do
    open_stream,  // `start` is set
    wake,         // the stream's source has bytes
    run,          // `work` is set
    look,         // only wakes the loop; no connection
  };
  Kind kind = Kind::look;
  std::shared_ptr<Connection> connection;
  std::unique_ptr<StreamStart> start;
  std::function<void()> work;
};

class Mailbox final : public base::Wakeup, public std::enable_shared_from_this<Mailbox> {
 public:
  Mailbox();

  void post(Letter letter);
  void wake() override;
  // Readable when there are letters.
  int fd() const { return wakeup_.get(); }
  std::vector<Letter> take();
  // Returns the remaining letters; later ones are dropped.
  std::vector<Letter> close();

 private:
  struct Content {
    std::vector<Letter> letters;
    bool closed = false;
  };
  base::UniqueFd wakeup_;
  base::Guarded<Content> content_;
};

// The target of a Waker: cheap, coalescing, valid forever.
class WakeSignal {
 public:
  WakeSignal(std::shared_ptr<Mailbox> mailbox, std::weak_ptr<Connection> connection)
      : mailbox_(std::move(mailbox)), connection_(std::move(connection)) {}

  void wake();
  // Loop: lets the next `wake` post again. Call before pulling the source.
  void rearm() { pending_.store(false); }

 private:
  std::atomic<bool> pending_{false};
  std::shared_ptr<Mailbox> mailbox_;  // shared with the loop and every exchange
  std::weak_ptr<Connection> connection_;
};

}  // namespace baton::http
