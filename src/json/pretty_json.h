// JSON for people: two spaces for each level, short values on one line. Numbers and texts keep their bytes.
#pragma once

#include <string>

#include "json/document.h"

namespace baton::json {

std::string pretty_json(Value value);

}  // namespace baton::json
