// TicketKeys: the keys that protect session tickets. They come from a secret and the time, so all servers
// with the secret resume each other's sessions, and a reload of certificates loses none.
//
// A key is used for 12 hours, and accepted for 12 hours before and after: clocks of servers differ, and
// tickets live for two hours.
// Threads: any.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/guarded.h"

namespace baton::http::tls {

class TicketKeys {
 public:
  using Time = std::chrono::sys_seconds;
  struct Key {
    std::array<unsigned char, 16> name;
    std::array<unsigned char, 32> mac;
    std::array<unsigned char, 32> cipher;
  };
  struct Found {
    Key key;
    bool is_newest;  // false: a ticket with it is to be replaced
  };
  static constexpr std::size_t kSecretMin = 32;

  // Makes a secret of its own.
  TicketKeys();
  // `secret`: at least kSecretMin bytes.
  explicit TicketKeys(std::string secret);
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;
  ~TicketKeys();

  Key newest(Time now) const;
  // `found.is_newest` says which; returns false if no valid key has the name.
  bool find(std::string_view name, Time now, Found& found) const;

 private:
  struct Made {
    std::int64_t period = -1;  // of the middle one
    std::array<Key, 3> keys;   // of the period before it, of it, and of the one after
  };
  Made keys_at(Time now) const;
  Key make(std::int64_t period) const;

  std::string secret_;
  mutable base::Guarded<Made> made_;
};

}  // namespace baton::http::tls
