#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string_view>

namespace muster::app {

// One verb of the command line. Its flags live in `run`, which returns the exit code and is called
// once they are read.
struct Verb {
  const CLI::App* words = nullptr;
  std::function<int()> run;
};

// Prints the problem on standard error; returns the exit code for it.
int refuse(std::string_view sentence);

}  // namespace muster::app
