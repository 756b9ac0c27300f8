// Tenants: a caller's tasks in one are not visible in another (protocol/a2a/README.md, 2). Pure.
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
// The caller within a tenant; the caller itself if that is empty.
task::Caller caller_in(std::string_view tenant, const task::Caller& caller);

}  // namespace baton::server
