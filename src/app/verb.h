#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string_view>

namespace muster::app {

// Exit codes of every verb: it worked; or it cannot be done (bad flag, port in use, foreign data
// directory), and one sentence on standard error says why and what to do.
inline constexpr int kOk = 0;
inline constexpr int kRefused = 2;

// One verb of the command line. Its flags live in `run`, which returns the exit code and is called
// once they are read.
struct Verb {
  const CLI::App* words = nullptr;
  std::function<int()> run;
};

// Prints the problem on standard error; returns kRefused.
int refuse(std::string_view sentence);

}  // namespace muster::app
