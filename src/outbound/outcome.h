// The one table of what an HTTP status says about the request that it answers.
//
// Threads: pure functions.
#pragma once

namespace baton::outbound {

// done: 2xx.
// busy: the server refused the request before it acted; it may be sent again, after Retry-After or a
// back-off. lost: the server, or a proxy before it, has given up; nobody knows whether the request was
// carried out. final: the server has decided; the same request gets the same answer.
enum class Outcome { done, busy, lost, final };

// 408, 425, 429 and every 5xx are never final: these are proxies' and servers' words for a bad moment, with
// Cloudflare's 520 to 530 and the 529 of model servers among them.
Outcome outcome_of(int status);

// True if the same request may succeed in a moment.
inline bool may_pass(int status) {
  const Outcome outcome = outcome_of(status);
  return outcome == Outcome::busy || outcome == Outcome::lost;
}

}  // namespace baton::outbound
