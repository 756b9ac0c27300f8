#include "cli/settings.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace baton::cli {
namespace {

using grpc::GrpcLimits;
using server::http::Limits;

template <auto Member>
auto& top(Config& config) {
  return config.*Member;
}
template <auto Section, auto Member>
auto& in(Config& config) {
  return config.*Section.*Member;
}
template <auto Member>
constexpr auto http = &in<&Config::http, Member>;
template <auto Member>
constexpr auto limits = &in<&Config::limits, Member>;
template <auto Member>
auto& grpc_in(Config& config) {
  return config.grpc.*Member;
}
template <auto Member>
constexpr auto grpc_limits = &grpc_in<Member>;
template <auto Member>
constexpr auto engine = &in<&Config::engine, Member>;
template <auto Member>
constexpr auto webhooks = &in<&Config::webhooks, Member>;

constexpr double kKib = 1024, kMib = 1024 * kKib, kGib = 1024 * kMib;
constexpr double kDay = 86'400;

constexpr std::array<std::string_view, 6> kLogLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 3> kSendMessage{"auto", "ag-ui", "ag-kit"};
constexpr std::array<std::string_view, 2> kResponseEvents{"response", "message"};
constexpr std::array<std::string_view, 2> kLogFormats{"json", "text"};

// The rules of the table are in settings.h. Order: as in the help text.
constexpr Setting kSettings[] = {
    {"host", &top<&Config::host>, "Address to listen on", 1, 255},
    {"port", &top<&Config::port>, "Port to listen on; 0 picks a free one", 0, 65'535},
    {"db", &top<&Config::db>, "SQLite file with tasks, events and deliveries", 1, 4096},
    {"agents", &top<&Config::agents>, "Folder with one folder for each agent", 1, 4096},
    {"strict", &top<&Config::strict>,
     "Whether a wrong agent card stops the server; otherwise that agent is left out"},
    {"public_url", &top<&Config::public_url>,
     "URL of this server as agent cards show it; without it, what the caller used", 0, 2048},
    {"hosts", &top<&Config::hosts>,
     "Hosts that requests may name, beside loopback ones and public_url's; without it, where not bound to "
     "loopback, any",
     0, 100},
    {"proxies", &top<&Config::proxies>,
     "Addresses and networks of proxies whose X-Forwarded-For, -Host and -Proto are believed", 0, 100},
    {"allow_anonymous", &top<&Config::allow_anonymous>,
     "Whether calls without a token are served; without it, only if no token is configured"},
    {"allow_readable_secrets", &top<&Config::allow_readable_secrets>,
     "Whether files with tokens may be readable by every user of the machine"},
    {"dev", &top<&Config::dev>, "Show callers the last line of a failed agent's standard error"},

    {"cors.enabled", &in<&Config::cors, &Cors::enabled>, "Whether pages of other origins may call"},
    {"cors.origins", &in<&Config::cors, &Cors::origins>,
     "Those origins; loopback is pages of the caller's own machine, * any", 1, 100},

    {"a2a.trust_method_names", &in<&Config::a2a, &A2aSettings::trust_method_names>,
     "Answer A2A 1.0 methods without an A2A-Version header, which means 0.3 by the specification"},

    {"chat.send_message", &in<&Config::chat, &ChatSettings::send_message>,
     "What /send-message speaks: as each request's body says, or always one protocol", 1, 16, kSendMessage},
    {"chat.response_event", &in<&Config::chat, &ChatSettings::response_event>,
     "Event name of the Agent Server's response objects", 1, 16, kResponseEvents},
    {"chat.hang_up_grace_s", &in<&Config::chat, &ChatSettings::hang_up_grace>,
     "Seconds after which a run is canceled whose client has hung up, unless somebody follows it; 0 is never",
     0, kDay},
    {"chat.answers_max", &in<&Config::chat, &ChatSettings::answers_max>,
     "Answers to an agent's questions in one request", 1, 10'000},
    {"chat.old_reasoning", &in<&Config::chat, &ChatSettings::old_reasoning>,
     "Show reasoning by THINKING_* to AG-UI clients that name no version: those before 0.0.45 fail on "
     "REASONING_*"},

    {"http.body_max", http<&Limits::body_max>, "Bytes of a request body", kKib, kGib},
    {"http.stranger_body_max", http<&Limits::stranger_body_max>,
     "Bytes of a request body where tokens are configured and the request has none that is good", kKib, kGib},
    {"http.bodies_max", http<&Limits::bodies_max>, "Bytes of all unfinished request bodies", kMib,
     1024 * kGib},
    {"http.header_bytes_max", http<&Limits::header_bytes_max>, "Bytes of a request's head", kKib, kMib},
    {"http.header_lines_max", http<&Limits::header_lines_max>, "Header lines of a request", 10, 10'000},
    {"http.connections_max", http<&Limits::connections_max>, "Open connections", 1, 1'000'000},
    {"http.streams_max", http<&Limits::streams_max>, "Open event streams", 0, 1'000'000},
    {"http.connections_per_address_max", http<&Limits::connections_per_address_max>,
     "Open connections of one address; 0 is no limit", 0, 1'000'000},
    {"http.header_time_s", http<&Limits::header_time>, "Seconds for a request's head", 0.1, 3600},
    {"http.body_grace_s", http<&Limits::body_grace>, "Seconds before a body's rate counts", 0.1, 3600},
    {"http.body_rate_min", http<&Limits::body_rate_min>, "Bytes a second a body must average", 0, kGib},
    {"http.idle_time_s", http<&Limits::idle_time>, "Seconds between two requests of a connection", 0.1, kDay},
    {"http.stall_time_s", http<&Limits::stall_time>, "Seconds a reader may take nothing", 0.1, kDay},
    {"http.keep_awake_s", http<&Limits::keep_awake>, "Seconds of silence before a stream's comment", 0.1,
     kDay},
    {"http.unsent_max", http<&Limits::unsent_max>,
     "Bytes of all streams' unsent events; past it the slowest reader is closed", kMib, 1024 * kGib},
    {"http.worker_threads", http<&Limits::worker_threads>, "Threads that run requests", 1, 256},
    {"http.work_queue_max",
     http<&Limits::work_queue_max>,
     "Requests that wait for a thread",
     1,
     1'000'000,
     {},
     {},
     true},

    {"limits.part_max", limits<&TaskLimits::part_max>, "Bytes of the content of one part", kKib, kGib},
    {"limits.artifact_max", limits<&TaskLimits::artifact_max>, "Bytes of one artifact", kKib, 16 * kGib},
    {"limits.task_max", limits<&TaskLimits::task_max>, "Bytes of all that one task holds", kKib, 16 * kGib},
    {"limits.answer_max", limits<&TaskLimits::answer_max>,
     "Bytes of one answer; past it the largest parts are shown as links", 64 * kKib, 16 * kGib},
    {"limits.answers_max", limits<&TaskLimits::answers_max>,
     "Bytes of all large answers under way; past it further ones wait", kMib, 1024 * kGib},
    {"limits.history_max", limits<&TaskLimits::history_max>, "Messages of one task", 1, 10'000'000},
    {"limits.webhooks_max", limits<&TaskLimits::webhooks_max>, "Webhooks of one task", 0, 1000},

    {"engine.slots", engine<&EngineSettings::slots>, "Turns that run at the same time", 1, 100'000},
    {"engine.queue_max", engine<&EngineSettings::queue_max>, "Turns that wait for a slot", 1, 10'000'000},
    {"engine.queue_share", engine<&EngineSettings::queue_share>,
     "Where there are several callers, what each may have of waiting turns, waiting replies and streams",
     0.001, 1},
    {"engine.reply_wait_s", engine<&EngineSettings::reply_wait>,
     "Seconds a waiting send waits before it answers with the current state", 0.1, kDay},
    {"engine.drain_grace_s", engine<&EngineSettings::drain_grace>,
     "Seconds running turns have when the server stops", 0, 3600},
    {"engine.conversation_max", engine<&EngineSettings::conversation_max>,
     "Earlier messages of a context an agent is given", 0, 10'000},
    {"engine.delegate_depth_max", engine<&EngineSettings::delegate_depth_max>,
     "How deep agents may delegate to agents", 0, 100},
    {"engine.send_retention_s", engine<&EngineSettings::send_retention>,
     "Seconds in which the same message sent again is the same task and not a second one", 0.1, 365 * kDay},

    {"webhooks.enabled", webhooks<&WebhookSettings::enabled>, "Whether webhooks are offered"},
    {"webhooks.allow_private",
     webhooks<&WebhookSettings::allow_private>,
     "Whether webhooks may go to private and loopback addresses",
     0,
     0,
     {},
     "--allow-private-webhooks"},
    {"webhooks.allow_metadata", webhooks<&WebhookSettings::allow_metadata>,
     "Whether webhooks may go to link-local addresses and to the metadata services of clouds"},
    {"webhooks.allow_low_ports", webhooks<&WebhookSettings::allow_low_ports>,
     "Whether webhooks may go to ports below 1024 other than 80 and 443"},
    {"webhooks.timeout_s", webhooks<&WebhookSettings::timeout>, "Seconds for one delivery", 0.1, 600},
    {"webhooks.resolve_timeout_s", webhooks<&WebhookSettings::resolve_timeout>,
     "Seconds for looking up a receiver's name", 0.1, 600},
    {"webhooks.retry_first_s", webhooks<&WebhookSettings::retry_first>, "Seconds before the first retry",
     0.01, kDay},
    {"webhooks.retry_max_s", webhooks<&WebhookSettings::retry_max>, "Seconds between retries at most", 0.01,
     kDay},
    {"webhooks.give_up_after_s", webhooks<&WebhookSettings::give_up_after>,
     "Seconds after which a delivery is given up", 0.1, 365 * kDay},
    {"webhooks.senders", webhooks<&WebhookSettings::senders>,
     "Deliveries at the same time; one caller has at most half of them", 1, 256},
    {"webhooks.senders_per_host", webhooks<&WebhookSettings::senders_per_host>,
     "Deliveries of one caller to one registered domain at the same time", 1, 256},

    {"grpc.port", &in<&Config::grpc, &GrpcSettings::port>,
     "Port for A2A over gRPC; 0 picks a free one, -1 is none", GrpcSettings::kOff, 65'535},
    {"grpc.public_address", &in<&Config::grpc, &GrpcSettings::public_address>,
     "HOST:PORT of gRPC as agent cards show it; without it, the host the caller used and the port", 0, 512},
    {"grpc.calls_per_connection_max", grpc_limits<&GrpcLimits::calls_per_connection_max>,
     "Calls of one connection at the same time", 1, 1'000'000},
    {"grpc.connections_per_address_max", grpc_limits<&GrpcLimits::connections_per_address_max>,
     "Open connections of one address; 0 is no limit", 0, 1'000'000},
    {"grpc.first_message_s", grpc_limits<&GrpcLimits::first_message>,
     "Seconds from a call's beginning until its message is there", 0.1, 3600},
    {"grpc.resets_max", grpc_limits<&GrpcLimits::resets_max>,
     "Calls that a connection may give up unanswered within 10 seconds before it is closed", 1, 1'000'000},
    {"grpc.decode_base64_files", grpc_limits<&GrpcLimits::decodes_base64_files>,
     "Take files of 0.3 clients in Python, Go and Java, which send base64 text as their bytes, for what it "
     "means"},

    {"log.level", &in<&Config::log, &LogSettings::level>, "What is logged", 1, 16, kLogLevels},
    {"log.format", &in<&Config::log, &LogSettings::format>, "How", 1, 16, kLogFormats},
};

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

const Setting* find_setting(std::string_view path) {
  const auto found = std::ranges::find(kSettings, path, &Setting::path);
  return found == std::end(kSettings) ? nullptr : &*found;
}

std::string flag_of(const Setting& setting) {
  if (!setting.flag.empty()) return std::string(setting.flag);
  std::string flag = "--" + std::string(setting.path);
  std::ranges::replace_if(
      flag, [](char c) { return c == '.' || c == '_'; }, '-');
  return flag;
}

std::string variable_of(std::string_view path) {
  std::string name = "BATON_" + std::string(path);
  for (char& c : name) c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace baton::cli
