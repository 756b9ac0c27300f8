#include "app/version.h"

#include <facts.h>

namespace baton::app {

std::string version_text() {
  return std::string(kVersion) + "\ncommit    " BATON_COMMIT "\nlibraries " BATON_LIBRARIES
                                 "\ncompiler  " BATON_COMPILER;
}

}  // namespace baton::app
