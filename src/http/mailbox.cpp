#include "http/mailbox.h"

#include <sys/eventfd.h>

#include <cstdint>
#include <cstdlib>

namespace baton::http {

Mailbox::Mailbox() : wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wakeup_.valid()) std::abort();  // no descriptors at start-up: nothing can run
}

void Mailbox::post(Letter letter) {
  const bool first = content_.with([&](Content& content) {
    if (content.closed) return false;
    content.letters.push_back(std::move(letter));
    return content.letters.size() == 1;
  });
  if (first) base::Burst::wake(shared_from_this());
}

void Mailbox::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof one);
}

std::vector<Letter> Mailbox::take() {
  // Drained before the letters are taken: a letter that comes in between wakes the loop once for nothing.
  std::uint64_t drained;
  [[maybe_unused]] const ssize_t got = ::read(wakeup_.get(), &drained, sizeof drained);
  std::vector<Letter> letters;
  content_.with([&](Content& content) { letters.swap(content.letters); });
  return letters;
}

std::vector<Letter> Mailbox::close() {
  std::vector<Letter> letters;
  content_.with([&](Content& content) {
    content.closed = true;
    letters.swap(content.letters);
  });
  return letters;
}

void WakeSignal::wake() {
  if (pending_.exchange(true)) return;
  if (auto connection = connection_.lock())
    mailbox_->post({Letter::Kind::wake, std::move(connection), nullptr, {}});
}

}  // namespace baton::http
