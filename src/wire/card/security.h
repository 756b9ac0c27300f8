// Security schemes and requirements of cards, in the forms of all versions.
//
// Before 1.0 a scheme is tagged by "type" and a requirement is {"name": ["scope"]}; from a2a.v1 on they are
// wrapped: {"httpAuthSecurityScheme": {...}} and {"schemes": {"name": {"list": ["scope"]}}}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/card.h"
#include "wire/card/views.h"
#include "wire/json/document.h"
#include "wire/json/schema.h"
#include "wire/json/writer.h"

namespace baton::wire {

// These read either form; what makes no sense is left out.
std::vector<task::SecurityScheme> read_security_schemes(Value schemes);
std::vector<task::SecurityRequirement> read_requirements(Value requirements);
// Reads the requirements of a card or a skill, under either member name.
std::vector<task::SecurityRequirement> read_security(Value owner);

// What is wrong with the schemes and requirements of a card and its skills.
std::vector<SchemaProblem> check_security(Value card);

// Writes "securitySchemes", in both forms for the superset; a no-op if empty. Old views leave out the flows
// that they have no name for.
void write_security_schemes(Writer& out, const std::vector<task::SecurityScheme>& schemes, CardView view);
// Writes "security", "securityRequirements" or both; a no-op if empty.
void write_requirements(Writer& out, const std::vector<task::SecurityRequirement>& requirements,
                        CardView view);
// The scheme as 0.1 names it: "bearer", "apiKey".
std::string_view scheme_word(const task::SecurityScheme& scheme);

}  // namespace baton::wire
