#pragma once

namespace muster::app {

// Exit codes of every verb: it worked; or it cannot be done (bad flag, port in use, foreign data
// directory), and one sentence on standard error says why and what to do.
inline constexpr int kOk = 0;
inline constexpr int kRefused = 2;

// Reads the command line and runs the verb it names; returns the exit code.
int run(int argc, char** argv);

}  // namespace muster::app
