#include "app/folder_watch.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "agents/cards/files_digest.h"

namespace baton::app {
namespace {

constexpr std::chrono::milliseconds kPause(250);

}  // namespace

FolderWatch::FolderWatch(const std::filesystem::path& folder, std::uint64_t known,
                         std::function<void()> on_change)
    : thread_([folder, told = known, on_change = std::move(on_change)](const std::stop_token& stop) mutable {
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        std::uint64_t seen = told;
        while (!stopped.wait_for(lock, stop, kPause, [&] { return stop.stop_requested(); })) {
          const std::uint64_t before = std::exchange(seen, agents::files_digest(folder));
          if (seen != before || seen == told) continue;
          told = seen;
          on_change();
        }
      }) {}

}  // namespace baton::app
