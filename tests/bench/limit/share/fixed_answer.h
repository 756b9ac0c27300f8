// An answer of the same size as that of an echoed send.
#pragma once

#include <string>

namespace baton::bench {

inline std::string fixed_answer() {
  return R"({"jsonrpc":"2.0","id":1,"result":{"task":{"id":"019a5f0e-7d9a-7c41-9d3e-0123456789ab",)"
         R"("contextId":"019a5f0e-7d9a-7c42-8a3e-0123456789ab","status":{"state":"TASK_STATE_COMPLETED",)"
         R"("timestamp":"2026-01-01T00:00:00.000Z"},"artifacts":[{"artifactId":"reply","name":"reply",)"
         R"("parts":[{"text":"Hello, world"}]}],"history":[{"messageId":"m-1-1-123456789",)"
         R"("contextId":"019a5f0e-7d9a-7c42-8a3e-0123456789ab","taskId":"019a5f0e-7d9a-7c41-9d3e-0123456789ab",)"
         R"("role":"ROLE_USER","parts":[{"text":"Hello, world"}]}]}}})";
}

}  // namespace baton::bench
