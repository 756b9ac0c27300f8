#include "server/shared/tenants.h"

#include <algorithm>
#include <string>

namespace baton::server {
namespace {

constexpr std::size_t kTenantMax = 256;

}  // namespace

base::Result<void> check_tenant(std::string_view tenant) {
  const bool readable = std::none_of(tenant.begin(), tenant.end(),
                                     [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; });
  if (!readable || tenant.size() > kTenantMax) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "tenant: must be at most 256 characters without a slash");
  }
  // Reserved: these have another meaning as the first segment of a path.
  for (const std::string_view taken : {"v1", "tasks", "agents", "conversations", ".", ".."}) {
    if (tenant == taken)
      return base::fail(base::ErrorCode::invalid_argument, "tenant: " + std::string(taken) + " is taken");
  }
  return {};
}

task::Caller caller_in(std::string_view tenant, const task::Caller& caller) {
  if (tenant.empty()) return caller;
  return {std::string(tenant) + task::kTenantEnd + caller.value};
}

}  // namespace baton::server
