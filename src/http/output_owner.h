// OutputOwner: the side that owns a connection's output. Exactly one side may use it at a time, without a
// lock.
//
//   loop      -> exchange   the loop has handed a request over and waits for the answer
//   exchange  -> writer     an answer is being written, on any thread
//   exchange  -> loop       a stream was opened: the loop drives it
//   writer    -> loop       the answer is written; unsent bytes are left in the connection
//   exchange  -> gone       the connection broke; later answers are ignored
//
// A knock records that something happened on the socket while the loop did not own the output. The side that
// gives it back sees the knock and must notify the loop. Every step is atomic, so no knock is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace baton::http {

class OutputOwner {
 public:
  // Loop side.
  bool is_loop() const { return (state_.load() & kHolder) == kLoop; }
  // True if the loop owns the output; otherwise leaves a knock.
  bool knock() {
    std::uint8_t seen = state_.load();
    while ((seen & kHolder) != kLoop) {
      if (state_.compare_exchange_weak(seen, seen | kKnock)) return false;
    }
    return true;
  }
  void give_to_exchange() { state_.store(kExchange); }
  // Passes the output from the exchange to the loop. Returns true if there was a knock, which the loop must
  // then handle; nullopt if the exchange did not own the output.
  std::optional<bool> take_from_exchange() {
    std::uint8_t seen = state_.load();
    while ((seen & kHolder) == kExchange) {
      if (state_.compare_exchange_weak(seen, kLoop)) return (seen & kKnock) != 0;
    }
    return std::nullopt;
  }
  bool withdraw() { return pass(kExchange, kGone); }

  // The side that answers.
  bool claim() { return pass(kExchange, kWriter); }
  // Passes the output to the loop. Returns true if there was a knock.
  bool give_back() { return (state_.exchange(kLoop) & kKnock) != 0; }

 private:
  static constexpr std::uint8_t kLoop = 0, kExchange = 1, kWriter = 2, kGone = 3;
  static constexpr std::uint8_t kHolder = 3, kKnock = 4;

  bool pass(std::uint8_t from, std::uint8_t to) {
    std::uint8_t seen = state_.load();
    while ((seen & kHolder) == from) {
      if (state_.compare_exchange_weak(seen, static_cast<std::uint8_t>((seen & kKnock) | to))) return true;
    }
    return false;
  }

  std::atomic<std::uint8_t> state_{kLoop};
};

}  // namespace baton::http
