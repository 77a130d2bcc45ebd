#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string_view>

namespace muster::app {

// One verb of the command line. Whoever adds it keeps its flags in `run`, which returns the exit
// code once they are read.
struct Verb {
  const CLI::App* words = nullptr;
  std::function<int()> run;
};

// Says on standard error what stands in the way; returns the exit code for it.
int refuse(std::string_view sentence);

}  // namespace muster::app
