#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>

#include "server/http/audit.h"
#include "server/http/limits.h"

namespace muster::app {

// Adds the flags that set the limits of connections, memory and time, and those of the store and
// the audit log.
// docs/threat-model.md says what each is for.
void add_limit_flags(CLI::App& verb, server::HttpLimits& limits);
void add_store_limit_flags(CLI::App& verb, std::size_t& stored_bytes_max,
                           std::size_t& history_bytes_max);
void add_audit_flags(CLI::App& verb, server::AuditLog::Rotation& rotation);

}  // namespace muster::app
