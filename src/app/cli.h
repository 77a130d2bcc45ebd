#pragma once

namespace muster::app {

// Exit codes of every verb: it worked; it was asked for something impossible (bad flag, port in
// use, foreign data directory): one sentence on standard error says what and how to go on.
inline constexpr int kOk = 0;
inline constexpr int kRefused = 2;

// Reads the command line and runs the verb it names; returns the exit code.
int run(int argc, char** argv);

}  // namespace muster::app
