#include "server/admission/jwt_claims.h"

#include <doctest/doctest.h>

namespace jwt_claims_test {

using namespace baton;
using server::Issuer;
using server::Role;
using server::Scope;
using server::Scopes;

namespace {

constexpr std::int64_t kNow = 1'700'000'000;
constexpr const char* kPublic = "https://baton.example/";

base::Timestamp at(std::int64_t seconds) {
  return base::from_ms(seconds * 1'000);
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const std::size_t place = text.find(old);
  REQUIRE(place != std::string::npos);
  return text.replace(place, old.size(), with);
}

Scopes scopes(std::initializer_list<Scope> list) {
  Scopes all;
  for (const Scope each : list) all.add(each);
  return all;
}

// The claims that each product documents for its access tokens (Google: ID tokens of service accounts; its
// access tokens are no JWTs), at our time and for our audience.
struct Product {
  const char* name;
  Issuer issuer;
  std::string claims;
  std::string subject;
  Role role;
  Scopes scopes;
};

std::vector<Product> products() {
  std::vector<Product> all;
  const auto add = [&](const char* name, std::string url, std::string claims, std::string subject, Role role,
                       Scopes held) -> Issuer& {
    Product& one = all.emplace_back(Product{name, {}, std::move(claims), std::move(subject), role, held});
    one.issuer.url = std::move(url);
    one.issuer.audiences = {"baton"};
    one.issuer.any_typ = true;
    return one.issuer;
  };
  Issuer& keycloak = add(
      "Keycloak", "https://keycloak.example/realms/demo",
      R"({"exp":1700000300,"iat":1700000000,"auth_time":1699999990,"jti":"onrtac:1","iss":"https://keycloak.example/realms/demo",)"
      R"("aud":["baton","account"],"sub":"f:1:ann","typ":"Bearer","azp":"shop","sid":"s","acr":"1",)"
      R"("allowed-origins":["https://shop.example"],"realm_access":{"roles":["offline_access","baton-operator"]},)"
      R"("resource_access":{"account":{"roles":["view-profile"]}},"scope":"openid email send read",)"
      R"("email_verified":true,"preferred_username":"ann"})",
      "f:1:ann", Role::operates, scopes({Scope::send, Scope::read}));
  keycloak.roles_claim = "realm_access.roles";
  keycloak.operator_roles = {"baton-operator"};

  Issuer& entra = add(
      "Entra ID", "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",
      R"({"aud":"baton","iss":"https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",)"
      R"("iat":1700000000,"nbf":1700000000,"exp":1700003900,"aio":"AXQAi","azp":"a11a","azpacr":"0","name":"Abe Lincoln",)"
      R"("oid":"690222be-ff1a-4d56-abd1-7e4f7d38e474","preferred_username":"abeli@microsoft.com","rh":"I",)"
      R"("roles":["Baton.Viewer"],"scp":"read access_as_user","sub":"HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",)"
      R"("tid":"72f988bf-86f1-41af-91ab-2d7cd011db47","uti":"f","ver":"2.0"})",
      "690222be-ff1a-4d56-abd1-7e4f7d38e474", Role::views, scopes({Scope::read}));
  entra.subject_claim = "oid";
  entra.viewer_roles = {"Baton.Viewer"};

  Issuer& auth0 = add(
      "Auth0", "https://my-domain.auth0.com/",
      R"({"iss":"https://my-domain.auth0.com/","sub":"auth0|123456","aud":["baton","https://my-domain.auth0.com/userinfo"],)"
      R"("azp":"my_client_id","exp":1700000970,"iat":1700000000,"scope":"openid profile baton:send baton:cancel send",)"
      R"("https://baton.example/roles":["admin"]})",
      "auth0|123456", Role::operates, scopes({Scope::send, Scope::cancel}));
  auth0.scope_prefix = "baton:";
  auth0.roles_claim = "https://baton.example/roles";
  auth0.operator_roles = {"boss", "admin"};

  // The role-based access control of its APIs.
  Issuer& auth0_rbac = add(
      "Auth0 with permissions", "https://my-domain.auth0.com/",
      R"({"iss":"https://my-domain.auth0.com/","sub":"auth0|123456","aud":["baton"],"azp":"my_client_id",)"
      R"("exp":1700000970,"iat":1700000000,"scope":"openid profile","permissions":["baton:read","send"]})",
      "auth0|123456", Role::calls, scopes({Scope::read}));
  auth0_rbac.scope_prefix = "baton:";
  auth0_rbac.scope_claims = {"permissions"};

  // The application permissions of a program (client credentials): there is no `scp`.
  Issuer& entra_program = add(
      "Entra ID for a program", "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",
      R"({"aud":"baton","iss":"https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",)"
      R"("iat":1700000000,"nbf":1700000000,"exp":1700003900,"aio":"E2Zg","azp":"a11a","azpacr":"1",)"
      R"("oid":"690222be-ff1a-4d56-abd1-7e4f7d38e474","rh":"I","roles":["Baton.send","Baton.read","Other"],)"
      R"("sub":"690222be-ff1a-4d56-abd1-7e4f7d38e474","tid":"72f988bf-86f1-41af-91ab-2d7cd011db47","uti":"f",)"
      R"("ver":"2.0"})",
      "690222be-ff1a-4d56-abd1-7e4f7d38e474", Role::calls, scopes({Scope::send, Scope::read}));
  entra_program.scope_prefix = "Baton.";
  entra_program.scope_claims = {"scp", "roles"};

  add("Okta", "https://dev.okta.com/oauth2/default",
      R"({"ver":1,"jti":"AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE","iss":"https://dev.okta.com/oauth2/default",)"
      R"("aud":"baton","sub":"00ujmkLgagxeRrAg20g3","iat":1700000000,"exp":1700003600,"cid":"nmdP1fcyvdVO11AL7ECm",)"
      R"("uid":"00ujmkLgagxeRrAg20g3","scp":["openid","send","read"],"custom_claim":"CustomValue"})",
      "00ujmkLgagxeRrAg20g3", Role::calls, scopes({Scope::send, Scope::read}));

  Issuer& google = add(
      "Google", "https://accounts.google.com",
      R"({"iss":"https://accounts.google.com","azp":"1234987819200.apps.googleusercontent.com","aud":"baton",)"
      R"("sub":"10769150350006150715113082367","at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q","hd":"example.com",)"
      R"("email":"jsmith@example.com","email_verified":"true","iat":1700000000,"exp":1700003600})",
      "10769150350006150715113082367", Role::calls, scopes({Scope::send}));
  google.scopes = scopes({Scope::send});

  // It has no audience; for our client.
  Issuer& cognito = add(
      "Cognito", "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_example",
      R"({"sub":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","cognito:groups":["baton-ops"],)"
      R"("iss":"https://cognito-idp.us-east-1.amazonaws.com/us-east-1_example","version":2,"client_id":"baton",)"
      R"("origin_jti":"a","token_use":"access","scope":"openid baton/send","auth_time":1700000000,)"
      R"("exp":1700003600,"iat":1700000000,"jti":"b","username":"ann"})",
      "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", Role::operates, scopes({Scope::send}));
  cognito.clients = {"baton"};
  cognito.scope_prefix = "baton/";
  cognito.roles_claim = "cognito:groups";
  cognito.operator_roles = {"baton-ops"};
  return all;
}

Issuer plain() {
  Issuer issuer;
  issuer.url = "https://id.example";
  return issuer;
}

std::string claims_for(const std::string& audience) {
  return R"({"iss":"https://id.example","sub":"ann","aud":)" + audience +
         R"(,"exp":1700000060,"iat":1699999940,"nbf":1699999940,"scope":"send"})";
}

base::Result<server::Claimed> read(const Issuer& issuer, const std::string& claims, std::int64_t now = kNow) {
  return server::read_claims(issuer, kPublic, claims, at(now));
}

}  // namespace

TEST_CASE("Claims: the documented tokens of each product give their caller, role and scopes") {
  for (const Product& one : products()) {
    CAPTURE(one.name);
    const auto claimed = read(one.issuer, one.claims);
    REQUIRE(claimed);
    CHECK(claimed->token.caller == server::caller_of(one.issuer.url, one.subject));
    CHECK(claimed->token.role == one.role);
    CHECK(claimed->token.scopes == one.scopes);
    CHECK(claimed->token.agents.empty());
    CHECK(claimed->token.secret.empty());
    // An ID token, or a token for another resource, falls by its audience.
    CHECK_FALSE(read(one.issuer, replaced(one.claims, "\"baton\"", "\"shop\"")));
    CHECK(server::is_access_token(one.issuer, "JWT"));
  }
}

TEST_CASE("Claims: a claim that is missing, malformed or out of its time refuses the token") {
  const std::string good = claims_for(R"("https://baton.example")");
  REQUIRE(read(plain(), good));
  CHECK(read(plain(), good)->until == at(kNow + 120));
  for (const auto& [old, with] : std::vector<std::pair<std::string, std::string>>{
           {"https://id.example", "https://id.example/"},
           {"\"iss\"", "\"is\""},
           {R"("sub":"ann")", R"("sub":"")"},
           {R"("sub":"ann")", R"("sub":7)"},
           {R"("sub":"ann")", R"("sub":"a\u0001b")"},
           {R"("sub":"ann")", R"("sub":"a\u001fb")"},
           {R"("sub":"ann")", "\"sub\":\"" + std::string(257, 'a') + "\""},
           {R"("sub":"ann")", R"("sub":"ann","sub":"bob")"},
           {"\"exp\":1700000060", "\"exp\":\"1700000060\""},
           {"\"exp\":1700000060", "\"exp\":-1"},
           {"\"exp\":1700000060", "\"exp\":1e300"},
           {"\"exp\":1700000060,", ""},
           {"\"iat\":1699999940", "\"iat\":1700000061"},
           {"\"nbf\":1699999940", "\"nbf\":1700000061"},
           {"\"nbf\":1699999940", "\"nbf\":null"}}) {
    CAPTURE(with);
    const auto refused = read(plain(), replaced(good, old, with));
    REQUIRE_FALSE(refused);
    // The client is not told which check failed; the log is.
    CHECK(refused.error().for_caller == "a valid bearer token is required");
    CHECK_FALSE(refused.error().for_log.empty());
  }
  CHECK(read(plain(), replaced(good, "1700000060", "1700000060.5")));
  // 60 seconds of skew, both ways.
  CHECK(read(plain(), good, kNow + 119));
  CHECK_FALSE(read(plain(), good, kNow + 120));
  CHECK(read(plain(), good, 1'699'999'940 - 60));
  CHECK_FALSE(read(plain(), good, 1'699'999'940 - 61));
  for (const char* text : {"", "[]", "null", "{", R"("x")"}) CHECK_FALSE(read(plain(), text));
}

TEST_CASE("Claims: a token that is bound to a key or a certificate is no bearer token, and is refused") {
  const std::string good = claims_for(R"("https://baton.example")");
  REQUIRE(read(plain(), good));
  for (const char* bound : {R"("cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"})",
                            R"("cnf":{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"})",
                            R"("cnf":{"other":1})", R"("cnf":{})", R"("cnf":"x")", R"("cnf":null)"}) {
    CAPTURE(bound);
    const auto refused = read(plain(), replaced(good, R"("sub")", std::string(bound) + R"(,"sub")"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().for_caller == "a valid bearer token is required");
    CHECK(refused.error().for_log == "it is bound to a key (cnf), which is not checked here");
  }
}

TEST_CASE("Claims: without audiences a token must be for this server, or is for the agents that it names") {
  const auto agents = [](const std::string& audience) -> std::optional<std::vector<std::string>> {
    const auto claimed = read(plain(), claims_for(audience));
    return claimed ? std::optional(claimed->token.agents) : std::nullopt;
  };
  using Names = std::vector<std::string>;
  for (const char* whole :
       {R"("https://baton.example")", R"("https://baton.example/")", R"("https://baton.example/mcp")",
        R"("https://baton.example/mcp/")", R"(["x","https://baton.example"])",
        R"(["https://baton.example/agents/echo","https://baton.example/mcp"])"})
    CHECK_MESSAGE(agents(whole) == Names(), whole);
  for (const char* one :
       {R"("https://baton.example/agents/echo")", R"("https://baton.example/agents/echo/")",
        R"("https://baton.example/agents/echo/mcp")", R"("https://baton.example/agents/echo/mcp/")"})
    CHECK_MESSAGE(agents(one) == Names{"echo"}, one);
  CHECK(agents(R"(["https://baton.example/agents/echo","https://baton.example/agents/joke"])") ==
        Names{"echo", "joke"});
  for (const char* other :
       {R"("")", "null", "7", "[]", R"("baton")", R"("https://baton.example.evil")",
        R"("http://baton.example")", R"("https://baton.example/agents/")",
        R"("https://baton.example/agents/a/b")", R"("https://baton.example/mcp//")",
        R"("https://baton.example/x")", R"({"https://baton.example":1})", R"({"x":"https://baton.example"})"})
    CHECK_MESSAGE(agents(other) == std::nullopt, other);
  // An operator's role is for the whole server.
  server::Issuer with_roles = plain();
  with_roles.operator_roles = {"op"};
  const auto role = [&](const std::string& audience) {
    std::string text = claims_for(audience);
    text.insert(text.rfind('}'), R"(,"roles":["op"])");
    return read(with_roles, text)->token.role;
  };
  CHECK(role(R"("https://baton.example")") == server::Role::operates);
  CHECK(role(R"("https://baton.example/agents/echo")") == server::Role::calls);
  // Without a public URL, nothing is ours.
  CHECK_FALSE(server::read_claims(plain(), "", claims_for(R"("")"), at(kNow)));
}

TEST_CASE("Claims: the issuer's agents, its claim and the audience each narrow the agents of a token") {
  Issuer issuer = plain();
  issuer.agents = {"echo", "joke"};
  const std::string good = claims_for(R"("https://baton.example")");
  CHECK(read(issuer, good)->token.agents == issuer.agents);
  CHECK(read(issuer, claims_for(R"("https://baton.example/agents/joke")"))->token.agents ==
        std::vector<std::string>{"joke"});
  CHECK_FALSE(read(issuer, claims_for(R"("https://baton.example/agents/slow")")));
  issuer.agents_claim = "baton.agents";
  CHECK_FALSE(read(issuer, good));
  CHECK(read(issuer, replaced(good, "\"scope\"", R"("baton":{"agents":["joke","slow"]},"scope")"))
            ->token.agents == std::vector<std::string>{"joke"});
  CHECK_FALSE(read(issuer, replaced(good, "\"scope\"", R"("baton":{"agents":["slow"]},"scope")")));
  CHECK_FALSE(read(issuer, replaced(good, "\"scope\"", R"("baton":{"agents":[]},"scope")")));
}

TEST_CASE("Claims: a client takes the place of an audience only where the token names none") {
  Issuer issuer = plain();
  const std::string audience = R"("aud":"shop",)";
  const std::string other = replaced(claims_for(R"("shop")"), R"("sub")", R"("client_id":"c","sub")");
  const std::string none = replaced(other, audience, "");
  CHECK_FALSE(read(issuer, none));
  issuer.clients = {"b", "c"};
  CHECK(read(issuer, none));
  CHECK_FALSE(read(issuer, other));
  CHECK_FALSE(read(issuer, replaced(other, R"("shop")", "null")));
  CHECK_FALSE(read(issuer, replaced(other, R"("shop")", "[]")));
  CHECK_FALSE(read(issuer, replaced(none, R"("c")", R"("d")")));
  CHECK_FALSE(read(issuer, replaced(none, R"("c")", "7")));
  CHECK_FALSE(read(issuer, replaced(none, R"("client_id":"c",)", "")));
  // An ID token always names its client as the audience.
  const std::string id_token = replaced(none, R"("sub")", R"("nonce":"n","sub")");
  CHECK_FALSE(server::read_id_claims(issuer, {issuer.url, "c", {"*"}}, "n", id_token, at(kNow)));
}

TEST_CASE("Claims: a path leads to roles below names with dots, as Keycloak's and Kubernetes' claims have") {
  Issuer issuer = plain();
  issuer.operator_roles = {"op"};
  const auto role = [&](const char* claim, const std::string& more) {
    issuer.roles_claim = claim;
    std::string text = claims_for(R"("https://baton.example")");
    text.insert(text.rfind('}'), "," + more);
    return read(issuer, text)->token.role;
  };
  const std::string keycloak =
      R"("resource_access":{"account":{"roles":["x"]},"https://baton.example":{"roles":["op"]}})";
  CHECK(role("resource_access.https://baton.example.roles", keycloak) == Role::operates);
  CHECK(role("resource_access.https://baton.roles", keycloak) == Role::calls);
  CHECK(role("resource_access.account.roles", keycloak) == Role::calls);
  const char* const kubernetes = R"("kubernetes.io":{"namespace":"op","pod":{"name":"a"}})";
  CHECK(role("kubernetes.io.namespace", kubernetes) == Role::operates);
  CHECK(role("kubernetes.io.pod.name", kubernetes) == Role::calls);
  CHECK(role("a.b", R"("a":{"c":1},"a.b":["op"])") == Role::operates);
  CHECK(role("a.b.c", R"("a":{"b":7},"a.b":{"c":"op"})") == Role::operates);
  for (const char* none : {".", "a.", ".b", "a..b", "a.b.c.d"})
    CHECK(role(none, R"("a":{"b":{"c":"op"}})") == Role::calls);
}

TEST_CASE(
    "Claims: roles are the members of an object, as ZITADEL's are, or a text with blanks, as ADFS's may be") {
  Issuer issuer = plain();
  issuer.operator_roles = {"op", "Domain Admins"};
  issuer.roles_claim = "urn:zitadel:iam:org:project:roles";
  const auto role = [&](const std::string& value) {
    std::string text = claims_for(R"("https://baton.example")");
    text.insert(text.rfind('}'), R"(,"urn:zitadel:iam:org:project:roles":)" + value);
    return read(issuer, text)->token.role;
  };
  CHECK(role(R"({"x":{"1":"a.example"},"op":{"177236":"b.example"}})") == Role::operates);
  for (const char* none : {R"({"op":false})", R"({"op":null})", R"({"op":"177236"})", R"({"op":[]})",
                           R"({"op":{}})", "{}", R"({"x":{"op":"a.example"}})", R"([{"op":{}}])"})
    CHECK_MESSAGE(role(none) == Role::calls, none);
  for (const char* text : {R"("Domain Admins")", R"(["Domain Admins"])", R"("Guests op")"})
    CHECK_MESSAGE(role(text) == Role::operates, text);
  for (const char* text : {R"("Domain Admins Guests")", R"("Domain")", R"(["Domain","Admins"])"})
    CHECK_MESSAGE(role(text) == Role::calls, text);
}

TEST_CASE("Claims: a token without our scopes allows nothing, and its type must be an access token's") {
  const std::string good = claims_for(R"("https://baton.example")");
  CHECK(read(plain(), replaced(good, "\"send\"", "\"openid SEND sends\""))->token.scopes.empty());
  CHECK(read(plain(), replaced(good, "\"send\"", "\"  send   operate \""))->token.scopes ==
        scopes({Scope::send, Scope::operate}));
  Issuer issuer = plain();
  issuer.scope_claims = {"baton.may", "scp"};
  const std::string elsewhere =
      replaced(good, R"("scope":"send")", R"("scope":"send","baton":{"may":["cancel"]})");
  CHECK(read(issuer, elsewhere)->token.scopes == scopes({Scope::cancel}));
  for (const char* typ : {"at+jwt", "application/at+jwt", "AT+JWT"})
    CHECK(server::is_access_token(issuer, typ));
  for (const char* typ : {"", "JWT", "id+jwt", "logout+jwt", "at+jwt2"})
    CHECK_FALSE(server::is_access_token(issuer, typ));
  issuer.any_typ = true;
  for (const char* typ : {"", "jwt", "at+jwt"}) CHECK(server::is_access_token(issuer, typ));
  for (const char* typ : {"logout+jwt", "secevent+jwt", "dpop+jwt"})
    CHECK_FALSE(server::is_access_token(issuer, typ));
  // The caller of a token that another service uses for it stays the caller (RFC 8693).
  const auto acted =
      read(plain(), replaced(good, "\"scope\"", R"("act":{"sub":"shop","act":{"sub":"desk"}},"scope")"));
  CHECK(acted->token.caller == server::caller_of("https://id.example", "ann"));
  CHECK(acted->actors == std::vector<std::string>{"shop", "desk"});
}

TEST_CASE("ID token: it is for the client and its sign-in, and a role decides who may come in") {
  Issuer issuer = plain();
  issuer.operator_roles = {"boss"};
  issuer.viewer_roles = {"watcher"};
  server::SignInRules rules{issuer.url, "console", {"staff"}};
  const auto claims = [](const std::string& roles, const std::string& more = {},
                         const std::string& aud = R"("console")") {
    return R"({"iss":"https://id.example","sub":"ann","aud":)" + aud +
           R"(,"exp":1700000060,"iat":1700000000,"nonce":"n","roles":)" + roles + more + "}";
  };
  const auto read_id = [&](const std::string& text, std::int64_t now = kNow, const char* nonce = "n") {
    return server::read_id_claims(issuer, rules, nonce, text, at(now));
  };
  const auto boss = read_id(claims(R"(["boss"])", R"(,"email":"ann@example.com","scope":"read")"));
  REQUIRE(boss);
  CHECK(boss->token.role == Role::operates);
  CHECK(boss->token.caller == server::caller_of(issuer.url, "ann"));
  CHECK(boss->token.scopes == Scopes::all());
  CHECK(boss->name == "ann@example.com");
  CHECK(boss->until == at(1'700'000'060));
  CHECK(read_id(claims(R"(["x","watcher"])"))->token.role == Role::views);
  CHECK(read_id(claims(R"("staff x")"))->token.role == Role::calls);
  CHECK(read_id(claims(R"("staff")"))->name == "ann");
  const auto refusal = [&](const std::string& text) { return read_id(text).error().code; };
  for (const char* roles : {"[]", R"("Staff")", R"(["*"])", "null"})
    CHECK(refusal(claims(roles)) == base::ErrorCode::permission_denied);
  rules.caller_roles = {"*"};
  CHECK(read_id(claims("[]"))->token.role == Role::calls);
  CHECK(read_id(claims("[]", R"(,"azp":"console")", R"(["shop","console"])")));
  for (const std::string& wrong : {claims("[]", {}, R"("shop")"), claims("[]", {}, R"(["shop","console"])"),
                                   claims("[]", R"(,"azp":"shop")"), claims("[]", R"(,"nonce":"n")"),
                                   replaced(claims("[]"), R"("nonce":"n",)", "")}) {
    CAPTURE(wrong);
    CHECK(refusal(wrong) == base::ErrorCode::unauthenticated);
  }
  CHECK_FALSE(read_id(claims("[]"), kNow, "m"));
  CHECK_FALSE(read_id(claims("[]"), kNow, ""));
  CHECK_FALSE(read_id(claims("[]"), 1'700'000'060));  // not even with the skew of clocks
  for (const char* typ : {"", "JWT", "jwt"}) CHECK(server::is_id_token(typ));
  for (const char* typ : {"at+jwt", "application/at+jwt", "logout+jwt"})
    CHECK_FALSE(server::is_id_token(typ));
}

}  // namespace jwt_claims_test
