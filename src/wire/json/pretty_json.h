// JSON for people: two spaces for each level, short values on one line. Numbers and texts keep their bytes.
#pragma once

#include <string>

#include "wire/json/document.h"

namespace baton::wire {

std::string pretty_json(Value value);

}  // namespace baton::wire
