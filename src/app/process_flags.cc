#include "app/process_flags.h"

#include <utility>

#include "base/log.h"

namespace muster::app {

void add_process_flags(CLI::App& verb, ProcessFlags& flags) {
  add_connection_flags(verb, flags.connection);
  verb.add_option("--feature-gates", flags.feature_gates, "Features to switch on or off")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
  verb.add_option("--bind-address", flags.bind_address, "Where to serve livez, readyz and metrics")
      ->capture_default_str();
  verb.add_option("--secure-port", flags.secure_port, "The port for them, HTTPS; 0: do not serve")
      ->capture_default_str();
  verb.add_option("--authorization-always-allow-paths", flags.open_paths,
                  "Which of them everybody may read; for the others the API server is asked")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--leader-elect-resource-name", flags.lease,
                  "The lease in kube-system by which one of several is elected: processes with "
                  "different tasks need different ones")
      ->type_name("NAME");
  verb.add_flag("-v,--verbose", flags.verbose, "Log what happens inside");
}

RemoteProcessOptions process_options(const ProcessFlags& flags, std::string name) {
  set_log_level(flags.verbose ? LogLevel::Debug : LogLevel::Info);
  RemoteProcessOptions options;
  options.name = std::move(name);
  options.election.name = flags.lease.empty() ? options.name : flags.lease;
  options.bind_address = flags.bind_address;
  options.secure_port = flags.secure_port;
  options.open_paths = flags.open_paths;
  return options;
}

}  // namespace muster::app
