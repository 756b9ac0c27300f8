// A stream whose blocks the test provides one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "http/http_server.h"
#include "support/patience.h"

namespace baton::server::grpc {

// The blocks of a stream, provided by the test, and the number of open streams.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> blocks;
  bool ends = false;
  http::Waker waker;
  int sources = 0;

  void say(std::string block, bool last = false) {
    http::Waker wake;
    {
      std::lock_guard lock(mutex);
      blocks.push_back(std::move(block));
      ends = last;
      wake = waker;
    }
    if (wake) wake();
  }
  bool wait_for_sources(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, test::patience(), [&] { return sources == count; });
  }
};

class ScriptedSource final : public http::StreamSource {
 public:
  ScriptedSource(std::shared_ptr<Script> script, http::Waker waker) : script_(std::move(script)) {
    std::lock_guard lock(script_->mutex);
    script_->waker = std::move(waker);
    ++script_->sources;
    script_->changed.notify_all();
  }
  ~ScriptedSource() override {
    std::lock_guard lock(script_->mutex);
    --script_->sources;
    script_->changed.notify_all();
  }
  Next pull(std::string& out, std::size_t) override {
    std::lock_guard lock(script_->mutex);
    if (!script_->blocks.empty()) {
      out += script_->blocks.front();
      script_->blocks.pop_front();
    }
    if (!script_->blocks.empty()) return Next::more;
    return script_->ends ? Next::end : Next::wait;
  }

 private:
  const std::shared_ptr<Script> script_;
};

}  // namespace baton::server::grpc
