// The canonical texts of a card that signatures are over (A2A 1.0, section 8.4.1).
//
// The specification and the SDKs disagree about values that are empty, so a card has several. Threads: any;
// pure.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"

namespace baton::protocol {

enum class CardForm {
  specification,  // the members of 1.0 without defaults; required ones stay if they are empty. RFC 8785
  sdk,            // the same without any empty text, list or object at any depth, as a2a-js signs
  sdk_decoded,    // the latter without securitySchemes, which a2a-js 1.3 loses of a card that it has decoded
  python,         // `sdk` in Python's notation (json::Canonical::python), as a2a-python signs
  as_sent,        // every member but `signatures`, unchanged. RFC 8785
};
// The fullest first.
inline constexpr std::array kCardForms{CardForm::specification, CardForm::as_sent, CardForm::sdk,
                                       CardForm::python, CardForm::sdk_decoded};
std::string_view name_of(CardForm form);  // for people

// Fails with invalid_argument if the card is no object, or for the reasons of json::canonical_json.
base::Result<std::string> canonical_card(json::Value card, CardForm form);

// The JSON pointers of the card's empty values of 1.0, such as "/skills". A signature of a card with such a
// value is good for some readers only. The lists of scopes in requirements do not count: most are empty.
std::vector<std::string> empty_values(json::Value card);

}  // namespace baton::protocol
