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

// These functions read either form and leave out invalid entries.
std::vector<task::SecurityScheme> read_security_schemes(json::Value schemes);
std::vector<task::SecurityRequirement> read_requirements(json::Value requirements);
// Reads the requirements of a card or a skill, under either member name.
std::vector<task::SecurityRequirement> read_security(json::Value owner);

// Returns the problems of the schemes and requirements of a card and its skills.
std::vector<json::SchemaProblem> check_security(json::Value card);

// Writes "securitySchemes", in both forms for the superset; a no-op if empty. Views of older versions leave
// out flows that have no name there.
void write_security_schemes(json::Writer& out, const std::vector<task::SecurityScheme>& schemes,
                            CardView view);
// Writes "security", "securityRequirements" or both; a no-op if empty.
void write_requirements(json::Writer& out, const std::vector<task::SecurityRequirement>& requirements,
                        CardView view);
// The scheme as 0.1 names it: "bearer", "apiKey".
std::string_view scheme_word(const task::SecurityScheme& scheme);

}  // namespace baton::protocol
