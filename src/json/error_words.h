// Reads the reason of an error from the JSON that servers of all kinds answer with. Pure functions.
#pragma once

#include <string>

#include "json/document.h"

namespace baton::json {

// Returns the words of an error: those of a text, of the members that servers use for them, or of a list's
// elements, joined by "; ". Empty if there are none. A member that names the place comes first: FastAPI's
// {"detail": [{"loc": ["body", "model"], "msg": "Field required"}]} gives "body.model: Field required". The
// code of OAuth (RFC 6749, 5.2) comes before its description. The words may have any characters; there are
// at most some thousand bytes beyond those of one text.
std::string error_words(Value error);

}  // namespace baton::json
