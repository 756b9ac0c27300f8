// The columns in an archive's lines. The names of the members are those of the columns.
#pragma once

#include <array>
#include <string_view>

namespace baton::store::sqlite {

inline constexpr int kArchiveVersion = 1;

inline constexpr std::array<std::string_view, 32> kTaskColumns{"agent",
                                                               "caller",
                                                               "public_id",
                                                               "origin",
                                                               "created_ms",
                                                               "version",
                                                               "state",
                                                               "status_event",
                                                               "last_event",
                                                               "turn",
                                                               "turn_state",
                                                               "attempt",
                                                               "turn_message",
                                                               "turn_begin",
                                                               "awaited",
                                                               "waiting_messages",
                                                               "cancel_requested",
                                                               "ask",
                                                               "artifact_count",
                                                               "message_count",
                                                               "status_ms",
                                                               "bytes",
                                                               "hidden",
                                                               "waits_open_max",
                                                               "waits_on_failure",
                                                               "waits_until_ms",
                                                               "child_failed",
                                                               "detached",
                                                               "tokens",
                                                               "children",
                                                               "budget",
                                                               "trace"};
inline constexpr std::array<std::string_view, 8> kRequestColumns{
    "metadata", "tools", "client_state", "extensions", "history", "hops", "trace", "number"};
inline constexpr std::array<std::string_view, 7> kWebhookColumns{
    "public_id", "url", "token", "schemes", "credentials", "authentication_extra", "version"};

}  // namespace baton::store::sqlite
