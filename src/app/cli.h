#pragma once

namespace muster::app {

// Reads the command line and runs the verb it names; returns the exit code.
int run(int argc, char** argv);

}  // namespace muster::app
