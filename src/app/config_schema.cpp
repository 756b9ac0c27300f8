// The JSON Schema of the configuration file, for editors, made from the table of settings.
#include <cmath>
#include <map>
#include <type_traits>

#include "app/load_config.h"
#include "app/settings.h"
#include "json/document.h"
#include "json/pretty_json.h"
#include "json/writer.h"

namespace baton::app {
namespace {

using json::Writer;

template <class T>
constexpr bool is_string_type = std::is_same_v<T, std::string> || std::is_enum_v<T>;

void write_number(Writer& out, std::string_view name, double number) {
  out.key(name);
  if (std::trunc(number) == number) {
    out.integer(static_cast<std::int64_t>(number));
  } else {
    out.real(number);
  }
}

void write_bounds(Writer& out, const Setting& setting, std::string_view suffix) {
  write_number(out, "min" + std::string(suffix), setting.min);
  write_number(out, "max" + std::string(suffix), setting.max);
}

void write_size(Writer& out, const Setting& setting) {
  out.key("anyOf").array([&] {
    out.object([&] {
      out.member("type", "integer");
      write_bounds(out, setting, "imum");
    });
    out.object([&] { out.member("type", "string").member("pattern", "^[0-9]+(\\.[0-9]+)?(KiB|MiB|GiB)?$"); });
  });
}

// Writes the members of one setting's schema.
void write_setting(Writer& out, const Setting& setting) {
  out.member("description", setting.help);
  const auto write_type = [&](auto target) {
    Config config;
    using T = std::decay_t<decltype(target(config))>;
    if constexpr (std::is_same_v<T, std::size_t>) {
      if (!setting.counts) return write_size(out, setting);
    }
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>>)
      out.member("type", "boolean");
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::size_t>) out.member("type", "integer");
    if constexpr (std::is_same_v<T, std::chrono::milliseconds> || std::is_same_v<T, double>) {
      out.member("type", "number");
    }
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double> || std::is_same_v<T, std::size_t> ||
                  std::is_same_v<T, std::chrono::milliseconds>) {
      write_bounds(out, setting, "imum");
    }
    if constexpr (is_string_type<T>) out.member("type", "string");
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      out.member("type", "array").key("items").object([&] { out.member("type", "string"); });
      write_bounds(out, setting, "Items");
    }
    if constexpr (is_string_type<T>) {
      if (setting.choices.empty()) return write_bounds(out, setting, "Length");
      out.key("enum").each(setting.choices, [&](const std::string_view choice) { out.string(choice); });
    }
  };
  std::visit(write_type, setting.target);
}

void write_tokens(Writer& out) {
  const auto text = [&](std::string_view name, std::string_view help) {
    out.key(name).object(
        [&] { out.member("type", "string").member("description", help).member("minLength", 1); });
  };
  const auto entry = [&] {
    out.member("type", "object").key("properties").object([&] {
      text("caller", "Name of the caller that uses this token");
      text("token", "The token itself");
      text("token_file", "File that contains the token");
      text("token_env", "Environment variable that contains the token");
      text("certificate",
           "Name in the client's certificate, in place of a token: DNS:name, URI:name or email:address");
      out.key("agents").object([&] {
        out.member("type", "array")
            .member("description", "Agents that the token may call; the default is all");
        out.member("minItems", 1).key("items").object([&] {
          out.member("type", "string").member("minLength", 1);
        });
      });
      out.key("children").object([&] {
        out.member("description",
                   "Whether tasks of this token may delegate to any agent (the default) or only to the "
                   "agents listed for it");
        out.key("enum").strings({"any", "own"});
      });
      out.key("role").object([&] {
        out.member("description",
                   "What the token allows: caller calls agents (the default), viewer reads all tasks, "
                   "operator also acts on them");
        out.key("enum").strings({"caller", "viewer", "operator"});
      });
      out.key("scopes").object([&] {
        out.member("type", "array")
            .member("description", "Scopes of the token; the default is all that its role allows");
        out.member("minItems", 1).key("items").object([&] {
          out.key("enum").strings({"send", "read", "cancel", "operate"});
        });
      });
    });
    out.key("required").array([&] { out.string("caller"); });
    out.key("oneOf").array([&] {
      for (const char* name : {"token", "token_file", "token_env", "certificate"}) {
        out.object([&] { out.key("required").array([&] { out.string(name); }); });
      }
    });
    out.member("additionalProperties", false);
  };
  out.key("tokens").object([&] {
    out.member("description", "Bearer tokens of callers").member("type", "array").key("items").object(entry);
  });
}

void write_issuers(Writer& out) {
  const auto described = [&](std::string_view name, std::string_view help, auto&& type) {
    out.key(name).object([&] {
      out.member("description", help);
      type();
    });
  };
  const auto text = [&](std::string_view name, std::string_view help) {
    described(name, help, [&] { out.member("type", "string").member("minLength", 1); });
  };
  const auto choice = [&](std::string_view name, std::string_view help, std::vector<std::string> choices) {
    described(name, help, [&] { out.key("enum").strings(choices); });
  };
  // A text, or a list of texts.
  const auto names = [&](std::string_view name, std::string_view help,
                         std::vector<std::string> choices = {}) {
    const auto item = [&] {
      out.member("type", "string").member("minLength", 1);
      if (!choices.empty()) out.key("enum").strings(choices);
    };
    described(name, help, [&] {
      out.key("anyOf").array([&] {
        out.object(item);
        out.object([&] { out.member("type", "array").member("minItems", 1).key("items").object(item); });
      });
    });
  };
  const auto entry = [&] {
    out.member("type", "object").key("properties").object([&] {
      text("issuer", "URL of the authorization server, exactly as its tokens name it in iss");
      names(
          "audience",
          "Audiences (aud) of tokens for this server; the default is public_url and the URLs of its agents");
      names("clients",
            "Clients (client_id) whose tokens need no audience, for Amazon Cognito; the default is none");
      text("keys", "URL or file of its key set (JWK); the default is found by its discovery document");
      names("algorithms", "Algorithms of its signatures; the default is all but ES384",
            {"RS256", "PS256", "ES256", "ES384", "EdDSA"});
      choice("typ",
             "Type of its access tokens: at+jwt (the default), or any for servers that write JWT or none",
             {"at+jwt", "any"});
      described("skew_s", "Seconds that its clock may differ from ours; the default is 60",
                [&] { out.member("type", "integer").member("minimum", 0).member("maximum", 600); });
      text("subject_claim", "Claim that identifies the caller; the default is sub");
      text("roles_claim", "Claim with roles, or a path such as realm_access.roles; the default is roles");
      names("viewer_roles", "Roles that may read the operator API");
      names("operator_roles", "Roles that may act through the operator API");
      names("scope_claims", "Claims that name scopes, or paths to them; the default is scope and scp");
      text("scope_prefix", "Text before the names of Baton's scopes in its tokens, such as baton:");
      names("scopes", "Scopes that each of its tokens has, even if it names none",
            {"send", "read", "cancel", "operate"});
      names("agents", "Agents that its tokens are valid for; the default is all");
      text("agents_claim", "Claim that names the agents that a token is valid for; tokens need it then");
    });
    out.key("required").array([&] { out.string("issuer"); });
    out.member("additionalProperties", false);
  };
  out.key("issuers").object([&] {
    out.member("description", "Authorization servers whose access tokens (JWT) are accepted")
        .member("type", "array")
        .key("items")
        .object(entry);
  });
}

}  // namespace

std::string config_schema() {
  std::map<std::string, std::vector<const Setting*>> sections;
  for (const Setting& setting : settings()) {
    const std::size_t dot = setting.path.find('.');
    sections[dot == std::string_view::npos ? "" : std::string(setting.path.substr(0, dot))].push_back(
        &setting);
  }
  std::string text;
  Writer out(text);
  const auto write_all = [&](const std::vector<const Setting*>& list) {
    for (const Setting* setting : list) {
      out.key(setting->path.substr(setting->path.find('.') + 1)).object([&] {
        write_setting(out, *setting);
      });
    }
  };
  out.object([&] {
    out.member("$schema", "https://json-schema.org/draft/2020-12/schema");
    out.member("title", "Configuration of Baton")
        .member("type", "object")
        .member("additionalProperties", false);
    out.key("properties").object([&] {
      out.key("$schema").object([&] { out.member("type", "string"); });
      write_tokens(out);
      write_issuers(out);
      write_all(sections[""]);
      for (const auto& [name, list] : sections) {
        if (name.empty()) continue;
        out.key(name).object([&] {
          out.member("type", "object").member("additionalProperties", false);
          out.key("properties").object([&] { write_all(list); });
        });
      }
    });
  });
  return json::pretty_json(json::Document::parse_view(text).value().root()) + "\n";
}

}  // namespace baton::app
