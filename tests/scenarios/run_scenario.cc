// Plays scenario texts and says which promises are broken:
//   scenario FILE...            texts
//   scenario --random FROM TO   texts made up from these seeds
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "sim/scenario/generator.h"
#include "sim/scenario/scenario.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace): a program of one file

// What is wrong with the text or with its run; empty if nothing is.
std::string wrong_with(std::string_view name, std::string_view text) {
  const Result<sim::Scenario> scenario = sim::parse_scenario(name, text);
  return scenario ? sim::run_scenario(*scenario, {}) : scenario.error().message + "\n";
}

bool play_file(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    fmt::print(stderr, "cannot read {}\n", path);
    return false;
  }
  const std::string wrong = wrong_with(path, text.str());
  fmt::print("{}", wrong);
  return wrong.empty();
}

// The sentence of a failure without numbers: what must stay the same while the text shrinks.
std::string kind_of(std::string_view wrong) {
  std::string kind;
  for (const char letter : wrong.substr(0, wrong.find('\n')))
    if (letter < '0' || letter > '9') kind += letter;
  return kind.substr(0, 60);
}

bool play_seed(std::uint64_t seed) {
  const std::string text = sim::make_scenario(seed);
  const std::string wrong = wrong_with("seed", text);
  if (wrong.empty()) return true;
  const auto fails_alike = [&](const std::string& shorter) {
    return kind_of(wrong_with("seed", shorter)) == kind_of(wrong);
  };
  const std::string small = sim::shrink_scenario(text, fails_alike);
  fmt::print("# seed {}\n{}\n{}\n", seed, small, wrong_with("seed", small));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  if (argc == 4 && std::string_view(argv[1]) == "--random") {
    for (std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
         seed <= std::strtoull(argv[3], nullptr, 10); ++seed)
      good = play_seed(seed) && good;
    return good ? 0 : 1;
  }
  for (int i = 1; i < argc; ++i) good = play_file(argv[i]) && good;
  return good ? 0 : 1;
}
