#include "cli/client_options.h"

#include "base/text.h"

namespace baton::cli {

std::string url_problem(const std::string& url) {
  if (base::web_scheme(url) != 0) return {};
  const std::size_t scheme = url.find("://");
  const std::string rest = scheme == std::string::npos ? url : url.substr(scheme + 3);
  const bool is_address = !rest.empty() && rest.front() != '/' && rest.find(' ') == std::string::npos;
  if (!is_address) return url + " is not an address; one looks like http://127.0.0.1:8080";
  // A name without a port is most likely a public one.
  const std::string host = rest.substr(0, rest.find('/'));
  const bool is_public = host.find(':') == std::string::npos && host.find('.') != std::string::npos &&
                         host.find_first_not_of("0123456789.") != std::string::npos;
  const bool secure = scheme == std::string::npos ? is_public : url.substr(0, scheme).ends_with('s');
  const std::string what = scheme == std::string::npos ? " has no scheme" : " has an unsupported scheme";
  return url + what + "; did you mean " + (secure ? "https://" : "http://") + rest + "?";
}

// CLI11 splits no word if extra arguments are not allowed. It then takes words up to the least number
// expected, which no command line reaches and nothing checks.
CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                       const std::string& help) {
  return command.add_option(name, words, help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->expected(1 << 24, CLI::detail::expected_max_vector_size);
}

// Checks the URL itself instead of with a CLI11 validator: later versions of CLI11 silently drop an
// environment variable's value that fails validation.
CLI::Option* add_url(CLI::App& command, std::string& url, const std::string& what) {
  const auto take = [&url](const std::string& given) {
    const std::string problem = url_problem(given);
    if (!problem.empty()) throw CLI::ValidationError("--url", problem);
    url = given;
  };
  return command.add_option_function<std::string>("--url", take, what + " (" + url + ")")
      ->envname("BATON_URL");
}

void add_client(CLI::App& command, ClientOptions& client) {
  constexpr const char* kWhere = "Server and agent";
  add_url(command, client.url, "Address of the server, or of any agent")->group(kWhere);
  command
      .add_option("--agent", client.agent, "Name of the agent on the server; without it, the default agent")
      ->envname("BATON_AGENT")
      ->group(kWhere);
  command.add_option("--token", client.access.token, "Bearer token; BATON_TOKEN is safer")
      ->envname("BATON_TOKEN")
      ->group(kWhere);
  command
      .add_option("--a2a", client.a2a,
                  "A2A version: 0.1, 0.2, 0.3 or 1.0; the default is the newest that the agent's card offers")
      ->check(CLI::IsMember({"0.1", "0.2", "0.3", "1.0"}))
      ->group(kWhere);
  command
      .add_option("--transport", client.transport,
                  "jsonrpc, rest or grpc; the default is the first of these that the agent's card offers")
      ->check(CLI::IsMember({"jsonrpc", "rest", "grpc"}))
      ->group(kWhere);
  command
      .add_flag("--grpc-text-files", client.grpc_text_files,
                "With A2A 0.3 over gRPC, exchange files as base64 text instead of bytes, as servers built "
                "with the SDKs for Python, Go and Java do")
      ->group(kWhere);
  command.add_option("--endpoint", client.endpoint, "Address of the agent, if its card names another one")
      ->check(url_problem)
      ->group(kWhere);
  command
      .add_flag("--trust-card", client.trust_card,
                "Also send the token to another origin that the card names; without it, only to the origin "
                "of --url")
      ->group(kWhere);
  command.add_flag("--json", client.json, "Print JSON lines instead of text");
  command.footer(kExitCodes);
}

void add_save(CLI::App& command, SaveOptions& save) {
  command.add_option("--out", save.folder,
                     "Folder for the files of artifacts; without it they are not saved");
  command.add_flag("--force", save.force, "Replace existing files");
}

}  // namespace baton::cli
