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
  const std::string what =
      scheme == std::string::npos ? " has no scheme" : " has a scheme that is not spoken";
  return url + what + "; did you mean " + (secure ? "https://" : "http://") + rest + "?";
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
  add_url(command, client.url, "The server, or an agent anywhere")->group(kWhere);
  command.add_option("--agent", client.agent, "Which of the server's agents; without it, its default one")
      ->envname("BATON_AGENT")
      ->group(kWhere);
  command.add_option("--token", client.access.token, "Bearer token; better given as BATON_TOKEN")
      ->envname("BATON_TOKEN")
      ->group(kWhere);
  command
      .add_option(
          "--a2a", client.a2a,
          "A2A version to speak: 0.1, 0.2, 0.3 or 1.0; without it, the best that the agent's card offers")
      ->check(CLI::IsMember({"0.1", "0.2", "0.3", "1.0"}))
      ->group(kWhere);
  command
      .add_option("--transport", client.transport,
                  "jsonrpc, rest or grpc; without it, the first of these that the agent's card offers")
      ->check(CLI::IsMember({"jsonrpc", "rest", "grpc"}))
      ->group(kWhere);
  command
      .add_flag("--grpc-text-files", client.grpc_text_files,
                "Over gRPC of 0.3, exchange files as base64 text in place of bytes, as servers made with "
                "the SDKs for Python, Go and Java do")
      ->group(kWhere);
  command
      .add_option("--endpoint", client.endpoint,
                  "Where the agent is spoken to, for a card that names another address")
      ->check(url_problem)
      ->group(kWhere);
  command
      .add_flag("--trust-card", client.trust_card,
                "Send the token also to another origin that the card names; without it, only to --url's")
      ->group(kWhere);
  command.add_flag("--json", client.json, "JSON lines in place of text");
  command.footer(kExitCodes);
}

void add_save(CLI::App& command, SaveOptions& save) {
  command.add_option("--out", save.folder,
                     "Folder for the files in artifacts; without it, they are not saved");
  command.add_flag("--force", save.force, "Replace files that are there already");
}

}  // namespace baton::cli
