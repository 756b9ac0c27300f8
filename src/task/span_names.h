// The names of spans' attributes and operations, kept in one table because the conventions still change.
//
// Pinned: OpenTelemetry semantic conventions 1.37.0 (http, url, server, error; gen_ai is in "Development"
// there); for a2a the proposal beside them, open-telemetry/semantic-conventions-genai, docs/gen-ai/a2a.md,
// as of November 2026. Content of messages is never an attribute.
#pragma once

#include <string_view>

namespace baton::task::spans {

inline constexpr std::string_view kSchemaUrl = "https://opentelemetry.io/schemas/1.37.0";

// http, url, server, error
inline constexpr std::string_view kHttpMethod = "http.request.method";
inline constexpr std::string_view kHttpStatus = "http.response.status_code";
inline constexpr std::string_view kHttpResends = "http.request.resend_count";
inline constexpr std::string_view kRpcSystem = "rpc.system";
inline constexpr std::string_view kPath = "url.path";
inline constexpr std::string_view kServerAddress = "server.address";
inline constexpr std::string_view kServerPort = "server.port";
inline constexpr std::string_view kErrorType = "error.type";

// gen_ai
inline constexpr std::string_view kOperation = "gen_ai.operation.name";
inline constexpr std::string_view kInvokeAgent = "invoke_agent";
inline constexpr std::string_view kChat = "chat";
inline constexpr std::string_view kExecuteTool = "execute_tool";
inline constexpr std::string_view kAgentName = "gen_ai.agent.name";
inline constexpr std::string_view kConversation = "gen_ai.conversation.id";
inline constexpr std::string_view kModel = "gen_ai.request.model";
inline constexpr std::string_view kToolName = "gen_ai.tool.name";
inline constexpr std::string_view kToolCall = "gen_ai.tool.call.id";

// a2a
inline constexpr std::string_view kA2aMethod = "a2a.method.name";
inline constexpr std::string_view kA2aTask = "a2a.task.id";
inline constexpr std::string_view kA2aState = "a2a.task.state";
inline constexpr std::string_view kA2aVersion = "a2a.protocol.version";

// Our own
inline constexpr std::string_view kProtocol = "baton.protocol";
inline constexpr std::string_view kTurn = "baton.turn";
inline constexpr std::string_view kAttempt = "baton.attempt";
inline constexpr std::string_view kTokens = "baton.tokens";
inline constexpr std::string_view kEvent = "baton.event";

}  // namespace baton::task::spans
