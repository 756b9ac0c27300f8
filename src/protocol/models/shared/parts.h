// The parts of a message as language models get them.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/models/shared/conversation.h"
#include "task/message.h"

namespace baton::protocol::models {

bool is_image(const task::Part& part);
// Whether the image is of a type that all APIs take.
bool is_common_image(const task::Part& part);
// The bounds of the images that one result may have: their bytes of base64 together, and their number.
inline constexpr std::size_t kResultImageBytesMax = std::size_t{4} << 20, kResultImagesMax = 20;

// Whether the part is a PDF file: its bytes or its URL.
bool is_pdf(const task::Part& part);

// Texts, data and text files as text; a note that names any other file.
std::string words_of(const task::Part& part);
// The words of all parts, one line for each.
std::string words_of(const std::vector<task::Part>& parts);

// The file's own name, or this one.
std::string file_name(const task::Part& part, std::string_view otherwise);

}  // namespace baton::protocol::models
