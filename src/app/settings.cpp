#include "app/settings.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace baton::app {
namespace {

using agents::CommonRules;
using agents::PartFileLimits;
using agents::PlanOptions;
using agents::QuestionLimits;
using engine::EngineOptions;
using engine::RetentionOptions;
using http::Limits;
using notify::Backoff;
using notify::NotifierOptions;
using outbound::ByteBudget;
using server::ChatOptions;
using server::ServerOptions;
using server::grpc::GrpcLimits;

// Returns the member of a Config that a path of members leads to.
template <auto... Path>
auto& to(Config& config) {
  return (config.*....*Path);
}
// Shorthands for members of the larger options.
template <auto... Path>
constexpr auto server = &to<&Config::server, Path...>;
template <auto... Path>
constexpr auto chat = &to<&Config::server, &ServerOptions::chat, Path...>;
template <auto... Path>
constexpr auto http = &to<&Config::http, Path...>;
template <auto... Path>
constexpr auto engine = &to<&Config::engine, Path...>;
template <auto... Path>
constexpr auto retention = &to<&Config::engine, &EngineOptions::retention, Path...>;
template <auto... Path>
constexpr auto questions = &to<&Config::engine, &EngineOptions::questions, Path...>;
template <auto... Path>
constexpr auto webhooks = &to<&Config::webhooks, Path...>;
template <auto... Path>
constexpr auto policy = &to<&Config::webhooks, &NotifierOptions::policy, Path...>;
template <auto... Path>
constexpr auto grpc = &to<&Config::grpc, Path...>;

constexpr double kKib = 1024, kMib = 1024 * kKib, kGib = 1024 * kMib;
constexpr double kDay = 86'400, kCentury = 36'525 * kDay;

constexpr std::array<std::string_view, 6> kLogLevels{"trace", "debug", "info", "warn", "error", "off"};
// In the order of ChatOptions::SendMessage.
constexpr std::array<std::string_view, 3> kSendMessage{"auto", "ag-ui", "ag-kit"};
constexpr std::array<std::string_view, 2> kResponseEvents{"response", "message"};
constexpr std::array<std::string_view, 3> kCardChecks{"off", "if-present", "require"};
constexpr std::array<std::string_view, 3> kLogFormats{"json", "text", "terminal"};

// settings.h describes the columns. The order is that of the help text.
constexpr Setting kSettings[] = {
    {"host", &to<&Config::host>, "Address to listen on", 1, 255},
    {"port", &to<&Config::port>, "Port to listen on; 0 picks a free one", 0, 65'535},
    {"db", &to<&Config::store, &StoreOptions::database>,
     "SQLite file, or a URL such as postgresql://user@host/database, that stores tasks, events and "
     "deliveries; :memory: writes nothing to disk",
     1, 4096},
    {"db_file", &to<&Config::store, &StoreOptions::database_file>,
     "File that contains the value of db, such as a URL with a password", 0, 4096},
    {"node_name", &to<&Config::store, &StoreOptions::node_name>,
     "Name of this server among those that share a database, as operators see it; the default is the "
     "machine's name",
     0, 100},
    {"agents", &to<&Config::agents_folder>, "Folder that contains one folder for each agent", 1, 4096},
    {"strict", &to<&Config::cards, &CommonRules::strict>,
     "Whether an invalid agent card stops the server; otherwise only that agent is left out"},
    {"public_url", server<&ServerOptions::public_url>,
     "URL of this server in agent cards; the default is the URL that the caller used", 0, 2048},
    {"hosts", server<&ServerOptions::hosts>,
     "Host names that requests may use, besides loopback names and the host of public_url; by default any "
     "name is accepted, unless the server listens on loopback only",
     0, 100},
    {"proxies", server<&ServerOptions::proxies>,
     "Addresses and networks of proxies whose X-Forwarded-For, -Host and -Proto headers are trusted", 0, 100},
    {"allow_anonymous", &to<&Config::allow_anonymous>,
     "Whether calls without a token are served; by default only if no token is configured"},
    {"api_keys", &to<&Config::api_keys>,
     "Whether API keys are accepted; by default if callers can have another token. If true, callers need a "
     "token or a key"},
    {"key_header", server<&ServerOptions::key_header>,
     "Header, such as X-API-Key, in which clients may send a token instead of Authorization; without it none "
     "may",
     0, 64},
    {"token_secret_file", &to<&Config::token_secret_file>,
     "File with a secret of at least 32 bytes that signs sessions and pages' tokens; servers with the same "
     "secret accept each other's. Without it they end when the server stops",
     0, 4096},
    {"allow_readable_secrets", &to<&Config::allow_readable_secrets>,
     "Whether files that contain tokens may be readable by every user of this machine"},
    {"dev", &to<&Config::cards, &CommonRules::dev>,
     "For developing agents: reload them when their files change, log the outcome of each task, show callers "
     "why an agent failed, allow webhooks and models at loopback addresses, and print a console link with an "
     "operator's token"},

    {"sign_in.issuer", &to<&Config::sign_in, &SignInOptions::issuer>,
     "Authorization server where people sign in to the console and the chat page, one of issuers; without "
     "it nobody can",
     0, 2048},
    {"sign_in.client_id", &to<&Config::sign_in, &SignInOptions::client_id>,
     "Name of this server as a client there", 0, 512},
    {"sign_in.client_secret_file", &to<&Config::sign_in, &SignInOptions::client_secret_file>,
     "File with the secret of this client; without it the client is a public one", 0, 4096},
    {"sign_in.scopes", &to<&Config::sign_in, &SignInOptions::scopes>,
     "Scopes of OpenID Connect that a sign-in asks for", 1, 50},
    {"sign_in.caller_roles", &to<&Config::sign_in, &SignInOptions::caller_roles>,
     "Roles, in the issuer's roles_claim, whose people may call agents; * admits everybody with an account. "
     "The "
     "issuer's viewer_roles and operator_roles may sign in, too",
     0, 100},

    {"cors.enabled", server<&ServerOptions::cors>, "Whether web pages of other origins may call this server"},
    {"cors.origins", server<&ServerOptions::cors_origins>,
     "Origins of those pages; loopback stands for pages on the caller's own machine, * for any origin", 1,
     100},

    {"a2a.trust_method_names", server<&ServerOptions::trusts_method_names>,
     "Whether A2A 1.0 methods are accepted without an A2A-Version header, although the specification then "
     "assumes 0.3"},

    {"mcp.handle_after_s", server<&ServerOptions::mcp_handle_after>,
     "Seconds after which a call of an agent over MCP becomes a task handle, if the client knows them", 0,
     3600},

    {"chat.send_message", chat<&ChatOptions::send_message>,
     "Protocol of /send-message: auto chooses by each request's body", 1, 16, kSendMessage},
    {"chat.response_event", chat<&ChatOptions::response_event>,
     "Name of the events that carry the Agent Server's response objects", 1, 16, kResponseEvents},
    {"chat.hang_up_grace_s", engine<&EngineOptions::hang_up_grace>,
     "Seconds after which a run is canceled if its client disconnected and nobody else follows it; 0 never "
     "cancels",
     0, kDay},
    {"chat.answers_max", chat<&ChatOptions::answers_max>,
     "Maximum number of answers to an agent's questions in one request", 1, 10'000},
    {"chat.page", chat<&ChatOptions::page>, "Whether the chat page /chat is served"},
    {"chat.old_reasoning", chat<&ChatOptions::old_reasoning>,
     "Whether AG-UI clients that name no version get reasoning as THINKING_* events; clients before 0.0.45 "
     "fail on REASONING_*"},

    {"http.body_max", http<&Limits::body_max>, "Maximum size of a request body", kKib, kGib},
    {"http.stranger_body_max", http<&Limits::stranger_body_max>,
     "Maximum size of a request body without a valid token, if tokens are configured", kKib, kGib},
    {"http.bodies_max", http<&Limits::bodies_max>, "Maximum size of all incomplete request bodies together",
     kMib, 1024 * kGib},
    {"http.header_bytes_max", http<&Limits::header_bytes_max>, "Maximum size of a request's headers", kKib,
     kMib},
    {"http.header_lines_max", http<&Limits::header_lines_max>, "Maximum number of header lines in a request",
     10, 10'000},
    {"http.connections_max", http<&Limits::connections_max>, "Maximum number of open connections", 1,
     1'000'000},
    {"http.streams_max", http<&Limits::streams_max>,
     "Maximum number of open event streams; at least 80 connections of connections_max, or half of them, "
     "stay free for other requests",
     0, 1'000'000},
    {"http.connections_per_address_max", http<&Limits::connections_per_address_max>,
     "Maximum number of open connections from one address; 0 means no limit", 0, 1'000'000},
    {"http.header_time_s", http<&Limits::header_time>, "Seconds in which a request's headers must arrive",
     0.1, 3600},
    {"http.body_grace_s", http<&Limits::body_grace>,
     "Seconds before the minimum rate of a request body applies", 0.1, 3600},
    {"http.body_rate_min", http<&Limits::body_rate_min>,
     "Minimum average rate of a request body, in bytes per second", 0, kGib},
    {"http.idle_time_s", http<&Limits::idle_time>, "Seconds after which an idle connection is closed", 0.1,
     kDay},
    {"http.stall_time_s", http<&Limits::stall_time>,
     "Seconds after which a connection is closed if the client reads nothing", 0.1, kDay},
    {"http.keep_awake_s", http<&Limits::keep_awake>,
     "Seconds without an event after which a stream sends a comment to keep the connection open", 0.1, kDay},
    {"http.unsent_max", http<&Limits::unsent_max>,
     "Maximum size of all unsent events and answers together; beyond it a slow reader is disconnected", kMib,
     1024 * kGib},
    {"http.worker_threads", http<&Limits::worker_threads>, "Number of threads that process requests", 1, 256},
    {"http.work_queue_max",
     http<&Limits::work_queue_max>,
     "Maximum number of requests waiting for a thread",
     1,
     1'000'000,
     {},
     {},
     true},

    {"tls.certificates", &to<&Config::tls, &TlsOptions::certificates>,
     "PEM files with the server's certificates, each with its chain; the first is for clients that name no "
     "host of another; without any the server speaks plain HTTP",
     0, 100},
    {"tls.keys", &to<&Config::tls, &TlsOptions::keys>,
     "PEM files with their private keys, in the same order; by default each is in its certificate's file", 0,
     100},
    {"tls.ticket_secret_file", &to<&Config::tls, &TlsOptions::ticket_secret_file>,
     "File with a secret of at least 32 bytes; servers with the same secret resume each other's sessions", 0,
     4096},
    {"tls.client_authorities_file", &to<&Config::tls, &TlsOptions::client_authorities_file>,
     "PEM file with the authorities of clients' certificates; without it clients are not asked for one", 0,
     4096},
    {"tls.client_certificate_required", &to<&Config::tls, &TlsOptions::client_certificate_required>,
     "Whether clients without a certificate are refused"},
    {"tls.operate", &to<&Config::tls, &TlsOptions::operate>,
     "Whether the operators' own port speaks TLS, too"},
    {"tls.grpc", &to<&Config::tls, &TlsOptions::grpc>, "Whether gRPC's port speaks TLS, too"},
    {"tls.handshakes_max", http<&Limits::handshakes_max>,
     "Maximum number of handshakes at the same time; beyond it new connections wait", 1, 100'000},
    {"tls.handshake_threads", http<&Limits::handshake_threads>, "Number of threads that perform handshakes",
     1, 64},
    {"tls.handshake_time_s", http<&Limits::handshake_time>,
     "Seconds that a handshake may take; one second while no further ones are accepted", 0.1, 3600},

    {"limits.part_max", engine<&EngineOptions::part_bytes_max>, "Maximum size of one part's content", kKib,
     kGib},
    {"limits.artifact_max", engine<&EngineOptions::artifact_bytes_max>, "Maximum size of one artifact", kKib,
     16 * kGib},
    {"limits.task_max", engine<&EngineOptions::task_bytes_max>,
     "Maximum size of all messages and artifacts of one task", kKib, 16 * kGib},
    {"limits.plan_fill_max", &to<&Config::plans, &PlanOptions::fill_max>,
     "Maximum size of the values that a plan fills into one step's input", kKib, kGib},
    {"limits.plan_kept_max", &to<&Config::plans, &PlanOptions::kept_max>,
     "Maximum size of the messages and results that waiting plans keep in memory", 0, 16 * kGib},
    {"limits.answer_max", server<&ServerOptions::answer_bytes_max>,
     "Maximum size of one answer; beyond it the largest parts become links", 64 * kKib, 16 * kGib},
    {"limits.answers_max", &to<&Config::answers_bytes_max>,
     "Maximum size of all large answers being sent; beyond it further ones wait", kMib, 1024 * kGib},
    {"limits.history_max", engine<&EngineOptions::history_max>, "Maximum number of messages in one task", 1,
     10'000'000},
    {"limits.parts_max", engine<&EngineOptions::parts_max>, "Maximum number of parts in one message", 1,
     10'000'000},
    {"limits.turn_files_max", &to<&Config::cards, &CommonRules::part_files, &PartFileLimits::files_max>,
     "Maximum number of files passed to one turn of a program with io text", 0, 1'000'000},
    {"limits.turn_arguments_max",
     &to<&Config::cards, &CommonRules::part_files, &PartFileLimits::arguments_max>,
     "Maximum size of the paths of those files, which become the program's arguments", 0, kMib},
    {"limits.webhooks_max", engine<&EngineOptions::push_configs_max>,
     "Maximum number of webhooks of one task", 0, 1000},

    {"limits.caller_tasks_max", engine<&EngineOptions::caller_tasks_max>,
     "Maximum number of stored tasks of one caller; beyond it new tasks are refused; 0 means no limit", 0,
     2e9},
    {"limits.caller_bytes_max", engine<&EngineOptions::caller_bytes_max>,
     "Maximum size of one caller's stored tasks; beyond it the caller's messages are refused; 0 means no "
     "limit",
     0, 16'384 * kGib},

    {"engine.slots", engine<&EngineOptions::slots>,
     "Maximum number of turns that run at the same time, over all agents", 1, 100'000},
    {"engine.queue_max", engine<&EngineOptions::queue_max>,
     "Maximum number of turns waiting for a slot, besides those of child tasks", 1, 10'000'000},
    {"engine.start_delay_max_s", engine<&EngineOptions::start_delay_max>,
     "How many seconds in advance a task's start may be scheduled", 0, 3660 * kDay},
    {"engine.delayed_max", engine<&EngineOptions::delayed_max>,
     "Maximum number of tasks waiting for their scheduled start", 0, 10'000'000},
    {"engine.schedules", engine<&EngineOptions::schedules>, "Whether agents' schedules start tasks"},
    {"engine.quarantine", engine<&EngineOptions::quarantine>,
     "Whether a turn is quarantined if the server crashed five times in a row while it ran"},
    {"engine.queue_share", &to<&Config::queue_share>,
     "Largest share of waiting turns, waiting replies and streams for one caller, if there are several "
     "callers",
     0.001, 1},
    {"engine.reply_wait_s", engine<&EngineOptions::reply_wait>,
     "Seconds that a blocking send waits before it returns the task's current state", 0.1, kDay},
    {"engine.drain_grace_s", engine<&EngineOptions::drain_grace>,
     "Seconds that running turns have to finish when the server stops", 0, 3600},
    {"engine.output_delay_s", engine<&EngineOptions::output_delay>,
     "Minimum seconds between two writes of streamed output, if nothing else has to be written; 0 writes "
     "each piece at once",
     0, 1},
    {"engine.undo_grace_s", &to<&Config::plans, &PlanOptions::undo_grace>,
     "Seconds that a plan has to undo its steps after its budget is used up", 0, kDay},
    {"engine.conversation_max", engine<&EngineOptions::conversation_max>,
     "Maximum number of earlier messages of a context that an agent receives", 0, 10'000},
    {"engine.delegate_depth_max", engine<&EngineOptions::delegation_depth_max>,
     "Maximum depth of delegation between agents", 0, 100},
    {"engine.delegate_children_max", engine<&EngineOptions::delegation_children_max>,
     "Maximum number of tasks below a task, unless its budget sets another limit", 0, 10'000'000},
    {"engine.send_retention_s", &to<&Config::store, &StoreOptions::send_retention>,
     "Seconds during which sending the same message again returns the same task instead of creating a second "
     "one",
     0.1, 365 * kDay},

    {"questions.schema_bytes_max", questions<&QuestionLimits::bytes_max>,
     "Maximum size of the JSON Schema of an agent's question", 1, kMib},
    {"questions.schema_depth_max", questions<&QuestionLimits::depth_max>,
     "Maximum nesting of the schemas in it, references included", 1, 100},
    {"questions.schema_nodes_max", questions<&QuestionLimits::nodes_max>, "Maximum number of schemas in it",
     1, 20'000},
    {"questions.answer_steps_max", questions<&QuestionLimits::steps_max>,
     "Maximum number of steps for checking one answer; a step takes at most a microsecond", 1, 10'000'000},

    {"retention.completed_s", retention<&RetentionOptions::completed>,
     "Seconds a task is kept after it completes; 0 keeps it forever", 0, kCentury},
    {"retention.canceled_s", retention<&RetentionOptions::canceled>,
     "Seconds a task is kept after it is canceled; 0 keeps it forever", 0, kCentury},
    {"retention.failed_s", retention<&RetentionOptions::failed>,
     "Seconds a task is kept after it fails; 0 keeps it forever", 0, kCentury},
    {"retention.rejected_s", retention<&RetentionOptions::rejected>,
     "Seconds a task is kept after it is rejected; 0 keeps it forever", 0, kCentury},
    {"retention.waiting_s", retention<&RetentionOptions::waiting>,
     "Seconds a task may wait for a person's input before it is canceled; 0 means no limit", 0, kCentury},

    {"postgres.allow", &to<&Config::store, &StoreOptions::postgres_allows>,
     "Unsafe settings of the PostgreSQL server, such as fsync=off, to accept although they can lose stored "
     "data",
     0, 100},
    {"postgres.standby", &to<&Config::store, &StoreOptions::postgres_standby>,
     "Whether to wait while another Baton uses the PostgreSQL database, and to take over when it stops"},

    {"outbound.proxy", &to<&Config::proxy, &outbound::Proxy::url>,
     "The HTTP proxy for all calls to other servers, like http://host:port; a card may name another", 0,
     2048},
    {"outbound.proxy_secret_env", &to<&Config::proxy, &outbound::Proxy::secret_env>,
     "The environment variable that holds user:password for it", 0, 255},
    {"outbound.proxy_except", &to<&Config::proxy, &outbound::Proxy::except>,
     "Hosts that are called without it; .example.org is all below example.org", 0, 1'000},
    {"outbound.origins", &to<&Config::outbound_origins>,
     "Origins such as https://host:port of remote agents that may be at private and loopback addresses", 0,
     100},
    {"outbound.bytes_max", &to<&Config::outbound_budget, &ByteBudget::Options::bytes_max>,
     "Maximum size of all answers of remote agents and models held in memory; beyond it further ones wait; "
     "one caller may use at most half of it",
     4 * kMib, 1024 * kGib},
    {"outbound.task_bytes_max", &to<&Config::outbound_budget, &ByteBudget::Options::answer_max>,
     "Maximum size of one such answer, also after decoding; never more than half of outbound.bytes_max", kMib,
     kGib},
    {"outbound.tool_arguments_max", &to<&Config::outbound_limits, &outbound::Limits::arguments_max>,
     "Maximum size of all tool arguments in one answer of a model or one run of an AG-UI endpoint", kKib,
     kGib},
    {"outbound.items_max",
     &to<&Config::outbound_limits, &outbound::Limits::items_max>,
     "Maximum number of artifacts, messages and parts in one answer of a remote A2A agent",
     1,
     10'000'000,
     {},
     {},
     true},
    {"outbound.delegate_urls", &to<&Config::cards, &CommonRules::delegate_urls>,
     "URLs of remote A2A agents that agents and plans may delegate to without a card of their own here; a "
     "URL that ends with / allows all URLs below it",
     0, 100},

    {"webhooks.enabled", webhooks<&NotifierOptions::enabled>, "Whether webhooks are offered"},
    {"webhooks.allow_private",
     policy<&outbound::AddressPolicy::allow_private>,
     "Whether webhooks may call private and loopback addresses",
     0,
     0,
     {},
     "--allow-private-webhooks"},
    {"webhooks.allow_metadata", policy<&outbound::AddressPolicy::allow_metadata>,
     "Whether webhooks may call link-local addresses and the metadata services of clouds"},
    {"webhooks.allow_low_ports", policy<&outbound::AddressPolicy::allow_low_ports>,
     "Whether webhooks may call ports below 1024 other than 80 and 443"},
    {"webhooks.timeout_s", webhooks<&NotifierOptions::timeout>, "Seconds that one delivery may take", 0.1,
     600},
    {"webhooks.resolve_timeout_s", webhooks<&NotifierOptions::resolve_timeout>,
     "Seconds that looking up a receiver's host name may take", 0.1, 600},
    {"webhooks.retry_first_s", webhooks<&NotifierOptions::retry, &Backoff::first>,
     "Seconds before the first retry", 0.01, kDay},
    {"webhooks.retry_max_s", webhooks<&NotifierOptions::retry, &Backoff::max>,
     "Maximum number of seconds between retries", 0.01, kDay},
    {"webhooks.give_up_after_s", webhooks<&NotifierOptions::give_up_after>,
     "Seconds after which a delivery is abandoned", 0.1, 365 * kDay},
    {"webhooks.senders", webhooks<&NotifierOptions::senders>,
     "Maximum number of deliveries at the same time; one caller may use at most half of them", 1, 256},
    {"webhooks.senders_per_host", webhooks<&NotifierOptions::senders_per_host>,
     "Maximum number of one caller's deliveries to one registered domain at the same time", 1, 256},
    {"webhooks.signing_keys", &to<&Config::webhook_keys>,
     "Files with keys that sign all webhooks (Standard Webhooks): whsec_... for HMAC-SHA256, or an Ed25519 "
     "private key as whsk_..., PEM or JWK; each call has a signature of each key",
     0, 4},

    {"cards.signing_key", &to<&Config::card_security, &CardSecurity::signing_key>,
     "File with the private key (PEM or JWK; P-256, Ed25519 or RSA) that signs the cards of A2A 1.0; "
     "requires "
     "public_url",
     0, 4096},
    {"cards.published_keys", &to<&Config::card_security, &CardSecurity::published_keys>,
     "Files with further keys that /.well-known/jwks.json shows: the next one, and the last one for a while",
     0, 10},
    {"cards.python_signature", &to<&Config::card_security, &CardSecurity::python_signature>,
     "Whether a card with text beyond ASCII has a signature for readers of a2a-python, too"},
    {"cards.verify", &to<&Config::card_security, &CardSecurity::verify>,
     "Which cards of remote agents are accepted: all, all but those whose signatures are wrong by the "
     "trusted "
     "keys of their origin, or only those with a good one",
     1, 16, kCardChecks},
    {"cards.trusted_keys", &to<&Config::card_security, &CardSecurity::trusted_keys>,
     "Keys of remote agents' cards, as ORIGIN=FILE, such as https://host=keys.json; the file is a JWK set, a "
     "JWK or a PEM public key",
     0, 1000},

    {"grpc.port", &to<&Config::grpc_port>, "Port for A2A over gRPC; 0 picks a free one, -1 turns gRPC off",
     Config::kGrpcOff, 65'535},
    {"grpc.public_address", server<&ServerOptions::grpc_address>,
     "HOST:PORT of gRPC in agent cards; the default is the host that the caller used with grpc.port", 0, 512},
    {"grpc.calls_per_connection_max", grpc<&GrpcLimits::calls_per_connection_max>,
     "Maximum number of calls at the same time on one connection", 1, 1'000'000},
    {"grpc.connections_per_address_max", grpc<&GrpcLimits::connections_per_address_max>,
     "Maximum number of open connections from one address; 0 means no limit", 0, 1'000'000},
    {"grpc.first_message_s", grpc<&GrpcLimits::first_message>,
     "Seconds in which the message of a call must arrive", 0.1, 3600},
    {"grpc.resets_max", grpc<&GrpcLimits::resets_max>,
     "Maximum number of calls that a client may reset within 10 seconds before its connection is closed; "
     "also of refusals that it has not read, if calls_per_connection_max is not more",
     1, 1'000'000},
    {"grpc.decode_base64_files", grpc<&GrpcLimits::decodes_base64_files>,
     "Whether files are exchanged with 0.3 clients as base64 text instead of bytes, as the SDKs for Python, "
     "Go and Java do"},

    {"operate.port", &to<&Config::operate_port>,
     "Separate port for the operator API and the console; 0 picks a free one, -1 uses the callers' port",
     Config::kWithCallers, 65'535},
    {"operate.host", &to<&Config::operate_host>, "Address of that port", 1, 255},

    {"log.level", &to<&Config::log, &LogOptions::level>, "Lowest level of messages that are logged", 1, 16,
     kLogLevels},
    {"log.format", &to<&Config::log, &LogOptions::format>, "Format of log lines", 1, 16, kLogFormats},
    {"log.agents", &to<&Config::log, &LogOptions::agents>,
     "Whether the agents' standard error is logged at every log level; otherwise at level info only"},
    {"log.access", &to<&Config::log, &LogOptions::access>, "Whether each answered request is logged"},

    {"traces.endpoint", &to<&Config::traces, &TraceOptions::endpoint>,
     "URL that receives OpenTelemetry traces (OTLP over HTTP), such as http://127.0.0.1:4318/v1/traces; "
     "without it no traces are recorded",
     0, 2048},
    {"traces.ratio", &to<&Config::traces, &TraceOptions::ratio>,
     "Share of the traces started here that are recorded; traces of callers follow their traceparent header",
     0, 1},
    {"traces.headers_file", &to<&Config::traces, &TraceOptions::headers_file>,
     "File with headers for the endpoint, one per line, such as Authorization: Bearer ...", 0, 4096},
    {"traces.headers_env", &to<&Config::traces, &TraceOptions::headers_env>,
     "Environment variable with such headers, separated by commas", 0, 255},
    {"traces.batch_s", &to<&Config::traces, &TraceOptions::batch_time>,
     "Seconds after which an incomplete batch of spans is sent", 0.01, 600},
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
  return setting.flag.empty() ? flag_of(setting.path) : std::string(setting.flag);
}

std::string flag_of(std::string_view path) {
  std::string flag = "--" + std::string(path);
  std::ranges::replace_if(
      flag, [](char c) { return c == '.' || c == '_'; }, '-');
  return flag;
}

std::string variable_of(std::string_view path) {
  std::string name = "BATON_" + std::string(path);
  for (char& c : name) c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace baton::app
