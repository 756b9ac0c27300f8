// The main of every test program. The log is off: tests look at answers, and it would bury a failure.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <spdlog/spdlog.h>

int main(int argc, char** argv) {
  spdlog::set_level(spdlog::level::off);
  return doctest::Context(argc, argv).run();
}
