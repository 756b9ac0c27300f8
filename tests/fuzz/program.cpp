// baton_fuzz TARGET [options of libFuzzer] [folders of inputs]: runs one target. Without a target it lists
// them. scripts/fuzz runs them all.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fuzz/target.h"

namespace baton::fuzz {
namespace {

std::vector<Target>& registered() {
  static std::vector<Target> targets;
  return targets;
}

const Target* chosen = nullptr;

[[noreturn]] void end_with_list(const char* why) {
  std::fprintf(stderr, "%s", why);
  for (const Target& target : all_targets()) std::printf("%s\n", std::string(target.name).c_str());
  std::exit(*why ? 2 : 0);
}

}  // namespace

Targets::Targets(std::initializer_list<Target> targets) {
  registered().insert(registered().end(), targets);
  std::sort(registered().begin(), registered().end(),
            [](const Target& one, const Target& other) { return one.name < other.name; });
}

const std::vector<Target>& all_targets() {
  return registered();
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "baton_fuzz: %s\n", what);
  std::abort();
}

void require_same(std::string_view one, std::string_view other, const char* what) {
  if (one == other) return;
  std::fprintf(stderr, "--- one\n%s\n--- the other\n%s\n", std::string(one).c_str(),
               std::string(other).c_str());
  require(false, what);
}

void in_pieces(std::string_view input, const std::function<bool(std::string_view)>& take) {
  std::uint64_t state = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : input) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  while (!input.empty()) {
    state = state * 6364136223846793005 + 1442695040888963407;
    // Mostly short ones: cuts within a token are the interesting ones.
    const std::size_t most = (state >> 60) == 0 ? 4'096 : 1 + ((state >> 56) & 15);
    const std::size_t size = std::min<std::size_t>(input.size(), 1 + (state >> 33) % most);
    const auto piece = std::make_unique<char[]>(size);
    std::copy_n(input.begin(), size, piece.get());
    input.remove_prefix(size);
    if (!take(std::string_view(piece.get(), size))) return;
  }
}

}  // namespace baton::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace baton::fuzz;
  if (*argc < 2) end_with_list("");
  const std::string_view name = (*argv)[1];
  const auto found = std::find_if(all_targets().begin(), all_targets().end(),
                                  [&](const Target& t) { return t.name == name; });
  if (found == all_targets().end()) end_with_list("baton_fuzz: no such target; there are:\n");
  chosen = &*found;
  // The rest is for libFuzzer.
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  baton::fuzz::chosen->run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
