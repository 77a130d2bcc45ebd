#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "app/connection.h"
#include "app/remote_process.h"

namespace muster::app {

// The flags that every process on a foreign cluster has, as given.
struct ProcessFlags {
  ConnectionFlags connection = {};
  std::vector<std::string> feature_gates = {};
  std::string bind_address = "0.0.0.0";
  std::uint16_t secure_port = 0;
  std::vector<std::string> open_paths = {"/healthz", "/livez", "/readyz"};
  std::string lease = {};  // by which it is elected; empty: as it is called
  bool verbose = false;
};
// The current values of `flags` are the defaults.
void add_process_flags(CLI::App& verb, ProcessFlags& flags);

// The options of a process of this name, as far as flags say; also sets the log level.
RemoteProcessOptions process_options(const ProcessFlags& flags, std::string name);

}  // namespace muster::app
