#include "cli/shell_words.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace baton::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return {commands.begin(), commands.end()};
}

// Returns the options with a long name, which leaves out positional arguments.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> named;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty()) named.push_back(option);
  }
  return named;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0 && option.get_items_expected_min() > 0;
}

// Calls `visit` with each command and the words that lead to it. The program itself comes first.
using Visit = std::function<void(const CLI::App& command, const std::string& words)>;
void for_all(const CLI::App& app, const std::string& words, const Visit& visit) {
  visit(app, words);
  for (const CLI::App* command : commands_of(app))
    for_all(*command, words + " " + command->get_name(), visit);
}

std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) words += command->get_name() + " ";
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

// Quotes text with single quotes, for all of the shells.
std::string shell_quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? std::string("\\'") : c == '\n' ? " " : std::string(1, c);
  return all + "'";
}

// The script for bash, and for zsh, which supports `compgen`. Completes file names if no word of ours fits.
std::string bash_words(const CLI::App& program) {
  std::string paths, cases;
  for_all(program, "baton", [&](const CLI::App& app, const std::string& words) {
    if (words != "baton") paths += (paths.empty() ? "" : " | ") + ("\"" + words + "\"");
    cases += "    \"" + words + "\") words=\"" + words_after(app) + "\" ;;\n";
  });
  return "_baton() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} command=baton word words\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in\n      " +
         paths +
         ") command=\"$command $word\" ;;\n    esac\n  done\n"
         "  case \"$command\" in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
         "}\n"
         "complete -o filenames -F _baton baton\n";
}

std::string fish_words(const CLI::App& program) {
  std::string all =
      "function __baton_at\n"
      "  set -l words (commandline -opc | string match --invert -- '-*')\n"
      "  test (string join ' ' $words[1..(math (count (string split ' ' $argv[1])))]) = \"$argv[1]\"\n"
      "end\n";
  for_all(program, "baton", [&](const CLI::App& app, const std::string& words) {
    const std::string begin = "complete -c baton -n \"__baton_at '" + words + "'\" ";
    for (const CLI::App* command : commands_of(app))
      all +=
          begin + "-f -a " + command->get_name() + " -d " + shell_quoted(command->get_description()) + "\n";
    for (const CLI::Option* option : options_of(app)) {
      for (const std::string& name : option->get_lnames())
        all += begin + "-l " + name + (takes_value(*option) ? " -r" : "") + " -d " +
               shell_quoted(option->get_description()) + "\n";
    }
  });
  return all;
}

// Escapes text for roff: a line may not begin with a dot or a quote, and only an escaped hyphen prints as
// typed.
std::string roff(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (all.empty() || all.back() == '\n') all += c == '.' || c == '\'' ? "\\&" : "";
    if (c == '\\') all += "\\e";
    if (c == '-') all += "\\-";
    if (c != '\\' && c != '-') all += c;
  }
  return all;
}

std::string roff_option(const CLI::Option& option) {
  const bool is_named = !option.get_lnames().empty() || !option.get_snames().empty();
  const std::string name = is_named ? option.get_name(false, true) : option.get_name(true);
  return ".TP\n\\fB" + roff(name) + "\\fR" + (is_named && takes_value(option) ? " \\fIvalue\\fR" : "") +
         "\n" + roff(option.get_description()) + "\n";
}

}  // namespace

std::string completion_for(const CLI::App& program, const std::string& shell) {
  if (shell == "fish") return fish_words(program);
  const std::string bash = bash_words(program);
  return shell == "bash" ? bash : "#compdef baton\nautoload -Uz bashcompinit && bashcompinit\n" + bash;
}

std::string manual_of(const CLI::App& program, const std::string& version) {
  std::string page = ".TH BATON 1 \"\" \"Baton " + roff(version) +
                     "\" \"User Commands\"\n.SH NAME\nbaton \\- " +
                     "a durable server for AI agents\n.SH SYNOPSIS\n\\fBbaton\\fR \\fIcommand\\fR " +
                     "[\\fIoptions\\fR]\n.SH COMMANDS\n";
  for_all(program, "baton", [&](const CLI::App& app, const std::string& words) {
    if (words == "baton") return;
    page += ".SS \"" + roff(words) + "\"\n" + roff(app.get_description()) + ".\n";
    for (const CLI::Option* option : app.get_options()) page += roff_option(*option);
    if (!app.get_footer().empty()) page += ".PP\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  });
  return page + ".SH SEE ALSO\n" +
         roff(
             "The pages in the source tree: README.md, agent-cards/README.md, schema/README.md and "
             "scripts/README.md. The last three link to the other pages of their folders.") +
         "\n";
}

}  // namespace baton::cli
