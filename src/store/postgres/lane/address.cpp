#include <algorithm>
#include <string_view>

#include "store/postgres/lane/libpq.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {
namespace {

constexpr std::string_view kSecrets[] = {"password", "sslpassword"};

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

}  // namespace

base::Result<Address> Address::read(const std::string& url) {
  if (auto loaded = load_libpq(); !loaded) return base::fail(loaded.error());
  char* wrong = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(url.c_str(), &wrong));
  PQfreemem(wrong);  // it quotes the URL
  if (!options || url.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the database URL is invalid: it must look like postgresql://user@host:port/database");
  }
  Address address;
  address.url_ = url;
  std::string host, port, database;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (std::ranges::find(kSecrets, keyword) != std::end(kSecrets))
      address.secrets_.emplace_back(option->val);
    if (keyword == "host") host = option->val;
    if (keyword == "port") port = option->val;
    if (keyword == "dbname") database = option->val;
  }
  address.name_ = "postgresql://" + host + (port.empty() ? "" : ":" + port) + "/" + database;
  return address;
}

std::string Address::redacted(std::string text) const {
  for (const std::string& secret : secrets_) {
    if (secret.empty()) continue;
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
      text.replace(at, secret.size(), "***");
  }
  return text;
}

}  // namespace baton::store::postgres
