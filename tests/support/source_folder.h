// The tree that the tests were built from, for those that compare the program with its pages and schemas.
#pragma once

#include <filesystem>

namespace baton::test {

std::filesystem::path source_folder();

}  // namespace baton::test
