#include "server/grpc/base64_files.h"

#include <algorithm>
#include <array>

namespace baton::server::grpc {
namespace {

struct Library {
  std::string_view product;  // of the user agent, without its version
  bool is_prefix = false;    // the transport's name follows
};

// The languages whose SDKs of 0.3 have text where the bytes belong.
constexpr std::array kWithText{Library{"grpc-python"}, Library{"grpc-python-asyncio"}, Library{"grpc-go"},
                               Library{"grpc-java-", true}};

}  // namespace

bool has_base64_text(std::string_view user_agent) {
  while (!user_agent.empty()) {
    const std::size_t end = std::min(user_agent.find(' '), user_agent.size());
    const std::string_view word = user_agent.substr(0, end);
    const std::string_view product = word.substr(0, word.find('/'));
    const bool known = std::ranges::any_of(kWithText, [&](const Library& library) {
      return library.is_prefix ? product.starts_with(library.product) : product == library.product;
    });
    if (known) return true;
    user_agent.remove_prefix(std::min(end + 1, user_agent.size()));
  }
  return false;
}

}  // namespace baton::server::grpc
