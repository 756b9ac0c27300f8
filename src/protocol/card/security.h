// Security schemes and requirements of cards, in the forms of all versions.
//
// Before 1.0 a scheme is tagged by "type" and a requirement is {"name": ["scope"]}; from a2a.v1 on they are
// wrapped: {"httpAuthSecurityScheme": {...}} and {"schemes": {"name": {"list": ["scope"]}}}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/schema.h"
#include "json/writer.h"
#include "protocol/card/views.h"
#include "task/card.h"

namespace baton::protocol {

// These read either form; what makes no sense is left out.
std::vector<task::SecurityScheme> read_security_schemes(json::Value schemes);
std::vector<task::SecurityRequirement> read_requirements(json::Value requirements);
// Reads the requirements of a card or a skill, under either member name.
std::vector<task::SecurityRequirement> read_security(json::Value owner);

// What is wrong with the schemes and requirements of a card and its skills.
std::vector<json::SchemaProblem> check_security(json::Value card);

// Writes "securitySchemes", in both forms for the superset; a no-op if empty. Old views leave out the flows
// that they have no name for.
void write_security_schemes(json::Writer& out, const std::vector<task::SecurityScheme>& schemes,
                            CardView view);
// Writes "security", "securityRequirements" or both; a no-op if empty.
void write_requirements(json::Writer& out, const std::vector<task::SecurityRequirement>& requirements,
                        CardView view);
// The scheme as 0.1 names it: "bearer", "apiKey".
std::string_view scheme_word(const task::SecurityScheme& scheme);

}  // namespace baton::protocol
