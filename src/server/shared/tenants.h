// Tenants: a caller's tasks in one tenant are not visible in another (protocol/a2a/README.md, 2). Pure.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "task/ids.h"

namespace baton::server {

// The words that have another meaning as the first segment of a path, as the table of paths says.
std::span<const std::string_view> reserved_words();
// Fails with invalid_argument for a tenant that cannot be part of a path, or is a reserved word.
base::Result<void> check_tenant(std::string_view tenant);
// Returns the caller within the tenant, or the caller itself if `tenant` is empty.
task::Caller caller_in(std::string_view tenant, const task::Caller& caller);

}  // namespace baton::server
