#include "cli/program.h"

int main(int argc, char** argv) {
  return baton::cli::run(argc, argv);
}
