#include "cli/load_config.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "cli/config_tokens.h"
#include "cli/nearest.h"
#include "cli/settings.h"
#include "wire/json/document.h"

namespace baton::cli {
namespace {

constexpr std::string_view kTokens = "tokens";
// Names of variables that are no settings.
const std::vector<std::string> kOtherVariables{"BATON_CONFIG", "BATON_URL", "BATON_TOKEN", "BATON_AGENT"};

std::string last_name(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));
}

std::string pointer_of(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  for (char& c : pointer) {
    if (c == '.') c = '/';
  }
  return pointer;
}

// One way through all the sources. `loaded` grows from the weakest to the strongest.
class Loader {
 public:
  explicit Loader(const Sources& sources) : sources_(sources) {}

  LoadedConfig load() {
    if (!sources_.file_name.empty()) take_file();
    take_environment();
    take_flags();
    check_whole();
    return std::move(loaded_);
  }

 private:
  Config& config() { return loaded_.config; }

  void wrong(const std::string& where, std::string_view what) {
    loaded_.problems.push_back(where + ": " + std::string(what));
  }
  void wrong_in_file(std::string_view pointer, std::string_view what) {
    wrong(sources_.file_name + " " + std::string(pointer), what);
  }

  void take_file() {
    const auto document = wire::Document::parse_view(sources_.file_text, {.depth_max = 20, .comments = true});
    if (!document) return wrong(sources_.file_name, document.error().for_caller);
    if (!document->root().is_object()) return wrong(sources_.file_name, "must be a JSON object");
    take_section(document->root(), "");
  }

  // `prefix`: "" or the section's name with a dot.
  void take_section(wire::Value section, const std::string& prefix) {
    for (const wire::Value member : section) {
      const std::string path = prefix + std::string(member.key());
      // "http.body_max" is the way to write it here, not a name in the file.
      const bool dotted = member.key().find('.') != std::string_view::npos;
      if (section.repeats(member.key())) wrong_in_file(pointer_of(path), "is there more than once");
      if (path == kTokens) {
        take_tokens(member, sources_.file_name + " /tokens");
      } else if (const Setting* setting = dotted ? nullptr : find_setting(path)) {
        if (const auto problem = set_from_json(config(), *setting, member))
          wrong_in_file(pointer_of(path), *problem);
      } else if (prefix.empty() && is_section(path)) {
        if (member.is_object()) {
          take_section(member, path + ".");
        } else {
          wrong_in_file(pointer_of(path), "must be an object");
        }
      } else if (path != "$schema") {
        wrong_in_file(pointer_of(prefix) + std::string(member.key()),
                      "is unknown" + suggestion(prefix, std::string(member.key())));
      }
    }
  }

  static bool is_section(const std::string& name) {
    for (const Setting& setting : settings()) {
      if (setting.path.starts_with(name + ".")) return true;
    }
    return false;
  }

  static std::string suggestion(const std::string& prefix, const std::string& name) {
    std::vector<std::string> here;
    for (const Setting& setting : settings()) {
      if (!setting.path.starts_with(prefix)) continue;
      const std::string_view rest = setting.path.substr(prefix.size());
      here.emplace_back(rest.substr(0, rest.find('.')));
    }
    if (prefix.empty()) here.emplace_back(kTokens);
    // The right name in the wrong section comes before a similar name in this one.
    for (const Setting& setting : settings()) {
      if (last_name(setting.path) == name || setting.path == name)
        return "; did you mean " + pointer_of(setting.path) + "?";
    }
    const std::string near = nearest_name(name, here);
    return near.empty() ? "" : "; did you mean " + near + "?";
  }

  void take_tokens(wire::Value list, const std::string& where) {
    const ReportToken report = [&](std::string_view pointer, std::string_view what) {
      wrong(where + std::string(pointer), what);
    };
    config().tokens = read_tokens(list, sources_.environment, report);
  }

  void take_environment() {
    std::vector<std::string> known = kOtherVariables;
    for (const Setting& setting : settings()) {
      known.push_back(variable_of(setting.path));
      const auto found = sources_.environment.find(known.back());
      if (found == sources_.environment.end()) continue;
      if (const auto problem = set_from_text(config(), setting, found->second)) wrong(known.back(), *problem);
    }
    known.push_back(variable_of(kTokens));
    if (const auto found = sources_.environment.find(known.back()); found != sources_.environment.end()) {
      const auto document = wire::Document::parse_view(found->second);
      // The parser's own words could show a piece of a secret.
      if (!document) return wrong(known.back(), "must be a JSON list, as `tokens` in the file");
      take_tokens(document->root(), known.back() + " ");
    }
    warn_of_misspelt(known);
  }

  // Only a warning: other programs set variables too, and some of them begin with our name.
  void warn_of_misspelt(const std::vector<std::string>& known) {
    for (const auto& [name, value] : sources_.environment) {
      if (!name.starts_with("BATON_") || std::ranges::find(known, name) != known.end()) continue;
      const std::string near = nearest_name(name, known);
      if (near.empty() || edit_distance(name, near) > 2) continue;
      loaded_.warnings.push_back(name + " is not a setting; did you mean " + near + "?");
    }
  }

  void take_flags() {
    for (const auto& [path, text] : sources_.flags) {
      const Setting* setting = find_setting(path);
      if (!setting) continue;
      if (const auto problem = set_from_text(config(), *setting, text)) wrong(flag_of(*setting), *problem);
    }
  }

  // What no single setting can know.
  void check_whole() {
    const Config& c = config();
    const auto web = [](std::string_view url) {
      return url.starts_with("http://") || url.starts_with("https://");
    };
    if (!c.public_url.empty() &&
        (!web(c.public_url) || c.public_url.find_first_of(" ?#\r\n") != std::string::npos)) {
      wrong("public_url", "must be an http or https URL without query and fragment");
    }
    for (const std::string& origin : c.cors.origins) {
      const bool plain = origin.find('/', origin.find("//") + 2) == std::string::npos;
      if (origin != "*" && (!web(origin) || !plain))
        wrong("cors.origins", "must be * or like https://host:port");
    }
    if (!c.anonymous_allowed() && c.tokens.empty()) {
      wrong("allow_anonymous", "is false and no token is configured: nobody could call");
    }
    if (c.limits.part_max > c.limits.artifact_max)
      wrong("limits.part_max", "must not be above limits.artifact_max");
    if (c.webhooks.retry_first > c.webhooks.retry_max) {
      wrong("webhooks.retry_first_s", "must not be above webhooks.retry_max_s");
    }
  }

  const Sources& sources_;
  LoadedConfig loaded_;
};

}  // namespace

LoadedConfig load_config(const Sources& sources) {
  return Loader(sources).load();
}

base::Result<std::string> read_file(const std::string& name, std::size_t size_max) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return base::fail(base::ErrorCode::not_found, "cannot read the file " + name);
  std::string text;
  std::string piece(64 << 10, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > size_max) {
      return base::fail(base::ErrorCode::too_large,
                        "the file " + name + " is larger than " + std::to_string(size_max) + " bytes");
    }
  }
  // What opens but cannot be read: a folder.
  if (file.bad()) return base::fail(base::ErrorCode::not_found, "cannot read the file " + name);
  return text;
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace baton::cli
