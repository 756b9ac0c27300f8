#include "app/config_issuers.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "outbound/http_client.h"

namespace baton::app {
namespace {

using json::Value;

const std::array<std::string, 16> kIssuerMembers{
    "issuer",       "audience",     "clients",        "algorithms",
    "typ",          "skew_s",       "subject_claim",  "roles_claim",
    "scopes",       "viewer_roles", "operator_roles", "scope_claims",
    "scope_prefix", "agents",       "agents_claim",   "keys"};
constexpr int kSkewMax = 600;

// https, or http at this machine, where no one can listen in.
bool is_safe(std::string_view text) {
  const auto url = outbound::parse_url(text);
  return url && (url->scheme == "https" || outbound::is_this_machine(url->host));
}

// Whether it is an address of Microsoft Entra ID for the accounts of many tenants. Tokens never name it as
// their issuer, but that of their tenant.
bool is_of_many_tenants(std::string_view text) {
  constexpr std::array<std::string_view, 6> kHosts{
      "login.microsoftonline.com",        "login.microsoftonline.us", "login.microsoft.com",
      "login.partner.microsoftonline.cn", "login.windows.net",        "sts.windows.net"};
  constexpr std::array<std::string_view, 3> kManyTenants{"common", "organizations", "consumers"};
  if (text.find('{') != std::string_view::npos) return true;  // "{tenantid}", as discovery says it
  const auto url = outbound::parse_url(text);
  if (!url || std::ranges::find(kHosts, url->host) == kHosts.end()) return false;
  const std::string_view path = std::string_view(url->target).substr(1);
  const std::string_view tenant = path.substr(0, path.find_first_of("/?"));
  return std::ranges::any_of(kManyTenants,
                             [&](std::string_view each) { return base::same_word(each, tenant); });
}

class IssuerEntry {
 public:
  using Report = std::function<void(std::string_view, std::string_view)>;
  IssuerEntry(Value object, std::string pointer, const std::string& folder, const Report& report)
      : object_(object), pointer_(std::move(pointer)), folder_(folder), report_(report) {}

  server::Issuer read() {
    check_members();
    server::Issuer issuer;
    issuer.url = object_["issuer"].str();
    if (is_of_many_tenants(issuer.url))
      wrong("/issuer",
            "stands for many tenants, and no token names it: make an entry for each tenant that you admit, "
            "such as https://login.microsoftonline.com/TENANT-ID/v2.0");
    else if (!is_safe(issuer.url) || issuer.url.find_first_of("?#") != std::string::npos ||
             std::ranges::any_of(issuer.url, [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
      wrong("/issuer", "must be an https URL without a query or fragment");
    issuer.audiences = names("audience");
    issuer.clients = names("clients");
    read_algorithms(issuer);
    const std::string typ = text("typ", "at+jwt");
    issuer.any_typ = typ == "any";
    if (typ != "any" && typ != "at+jwt") wrong("/typ", "must be \"at+jwt\" or \"any\"");
    if (const Value skew = object_["skew_s"]; !skew.missing()) {
      const auto seconds = skew.integer();
      if (!seconds || *seconds < 0 || *seconds > kSkewMax)
        wrong("/skew_s", "must be a whole number from 0 to 600");
      else
        issuer.skew = std::chrono::seconds(*seconds);
    }
    issuer.subject_claim = text("subject_claim", issuer.subject_claim);
    issuer.roles_claim = text("roles_claim", issuer.roles_claim);
    issuer.viewer_roles = names("viewer_roles");
    issuer.operator_roles = names("operator_roles");
    if (auto claims = names("scope_claims"); !claims.empty()) issuer.scope_claims = std::move(claims);
    issuer.scope_prefix = text("scope_prefix", "");
    for (const std::string& scope : names("scopes")) {
      if (!issuer.scopes.add(scope)) wrong("/scopes", "must only name send, read, cancel and operate");
    }
    issuer.agents = names("agents");
    issuer.agents_claim = text("agents_claim", "");
    read_keys(issuer);
    return issuer;
  }

 private:
  void wrong(std::string_view member, std::string_view what) {
    report_(pointer_ + std::string(member), what);
  }

  void check_members() {
    for (const Value member : object_) {
      const std::string name(member.key());
      if (object_.repeats(name)) wrong("/" + name, "is given more than once");
      if (std::ranges::find(kIssuerMembers, name) != kIssuerMembers.end()) continue;
      const std::string near = base::nearest_name(name, kIssuerMembers);
      wrong("/" + name, "is unknown" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
  }

  std::string text(const std::string& name, const std::string& otherwise) {
    const Value value = object_[name];
    if (value.missing()) return otherwise;
    if (!value.is_string() || value.string().empty()) wrong("/" + name, "must be a text that is not empty");
    return value.str();
  }

  // A text, or a list of texts. An empty list is refused: its author may take it for "none".
  std::vector<std::string> names(const std::string& name) {
    std::vector<std::string> all;
    const Value value = object_[name];
    if (value.missing()) return all;
    if (value.is_string()) all.push_back(value.str());
    for (const Value each : value) {
      if (each.is_string()) all.push_back(each.str());
    }
    const bool is_whole = value.is_string() || (value.is_array() && all.size() == value.size());
    if (!is_whole || all.empty() || std::ranges::any_of(all, &std::string::empty))
      wrong("/" + name, "must be a text, or a list with at least one text");
    return all;
  }

  void read_algorithms(server::Issuer& issuer) {
    const auto given = names("algorithms");
    if (!given.empty()) issuer.algorithms.clear();
    for (const std::string& name : given) {
      const auto algorithm = jose::algorithm_named(name);
      if (algorithm)
        issuer.algorithms.push_back(*algorithm);
      else
        wrong("/algorithms", "must only name RS256, PS256, ES256, ES384 and EdDSA");
    }
  }

  // A URL, or else the name of a file.
  void read_keys(server::Issuer& issuer) {
    const std::string keys = text("keys", "");
    if (keys.empty()) return;
    if (base::web_scheme(keys) != 0) {
      if (!is_safe(keys)) wrong("/keys", "must be an https URL or the name of a file");
      issuer.keys_url = keys;
      return;
    }
    issuer.keys_file = folder_.empty() || keys.starts_with('/') ? keys : folder_ + "/" + keys;
  }

  const Value object_;
  const std::string pointer_;
  const std::string& folder_;
  const Report& report_;
};

}  // namespace

std::vector<server::Issuer> read_issuers(
    Value list, const std::string& folder,
    const std::function<void(std::string_view, std::string_view)>& report) {
  std::vector<server::Issuer> issuers;
  if (!list.is_array()) {
    report("", "must be a list of objects");
    return issuers;
  }
  std::size_t place = 0;
  for (const Value item : list) {
    const std::string pointer = "/" + std::to_string(place++);
    if (!item.is_object()) {
      report(pointer, "must be an object with the member issuer");
      continue;
    }
    server::Issuer issuer = IssuerEntry(item, pointer, folder, report).read();
    if (std::ranges::find(issuers, issuer.url, &server::Issuer::url) != issuers.end())
      report(pointer, "has the same issuer as an earlier entry");
    issuers.push_back(std::move(issuer));
  }
  return issuers;
}

}  // namespace baton::app
