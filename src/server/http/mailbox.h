// Mailbox: how other threads tell the loop something. It outlives the loop: what comes later is dropped.
//
// Threads: `post` from any; `take` and `close` from the loop. Many letters cost one wake-up.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/unique_fd.h"
#include "server/http/connection.h"

namespace baton::server::http {

struct StreamStart {
  HeaderList headers;
  StreamOpener opener;
};

struct Letter {
  enum class Kind {
    resume,       // the turn was given back and there is more to do
    open_stream,  // `start` says which
    wake,         // the stream's source has something
    look,         // only to be woken up; without a connection
  };
  Kind kind = Kind::look;
  std::shared_ptr<Connection> connection;
  std::unique_ptr<StreamStart> start;
};

class Mailbox {
 public:
  Mailbox();

  void post(Letter letter);
  // The descriptor that becomes readable when there are letters.
  int fd() const { return wakeup_.get(); }
  std::vector<Letter> take();
  // Hands out what is left; nothing is taken in any more.
  std::vector<Letter> close();

 private:
  struct Content {
    std::vector<Letter> letters;
    bool closed = false;
  };
  base::UniqueFd wakeup_;
  base::Guarded<Content> content_;
};

// What a Waker holds: cheap, coalescing, and valid for ever.
class WakeSignal {
 public:
  WakeSignal(std::shared_ptr<Mailbox> mailbox, std::weak_ptr<Connection> connection)
      : mailbox_(std::move(mailbox)), connection_(std::move(connection)) {}

  void wake();
  // Loop: from here on the next call posts again. To be called before the source is pulled.
  void rearm() { pending_.store(false); }

 private:
  std::atomic<bool> pending_{false};
  std::shared_ptr<Mailbox> mailbox_;  // shared with the loop and every exchange
  std::weak_ptr<Connection> connection_;
};

}  // namespace baton::server::http
