#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "api/inert/inert.h"
#include "app/scheduler_flags.h"
#include "base/result.h"
#include "server/core/write/registry.h"
#include "server/http/audit.h"
#include "server/http/limits.h"
#include "sim/cluster_shape.h"
#include "store/compactor.h"
#include "workload/job.h"

namespace muster::app {

struct UpOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 6443;
  std::vector<std::string> tls_sans = {};  // further names and addresses of the certificate
  bool in_memory = false;
  std::string data_dir;    // empty: default_data_dir()
  std::string kubeconfig;  // empty: in the data directory, or here
  std::string audit_log;   // a file; empty: none
  server::AuditLog::Rotation audit_rotation = {};
  server::HttpLimits limits = {};
  std::size_t stored_bytes_max = server::Registry::kStoredBytesMax;
  std::size_t history_bytes_max = store::kHistoryMax.bytes;
  sim::ClusterShape shape;
  api::Gates gates = {};
  SchedulerSettings scheduler = {};
  api::Absent absent = {};         // components that are switched off
  workload::JobOptions jobs = {};  // except its gates
};

// Runs the whole control plane until SIGINT or SIGTERM. The error is one sentence for the user:
// what prevents the start, and what to do.
Result<void> run_up(const UpOptions& options);

}  // namespace muster::app
