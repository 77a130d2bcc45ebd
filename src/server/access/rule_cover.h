#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "server/access/roles.h"

namespace muster::server {

struct CoverLimits {
  // How many rights are listed by name; beyond that, only that there are more.
  std::size_t listed_max = 100;
  // Steps, each a few nanoseconds. Beyond them the question counts as unanswered.
  std::size_t work_max = 2'000'000;
};

// What rules grant that others do not cover.
struct MissingRights {
  // One group and resource, or one path, at most one name, and all missing verbs each.
  std::vector<PolicyRule> rights = {};
  bool more = false;     // there are rights beyond those listed
  bool unknown = false;  // the limit of work was reached first
  std::size_t work = 0;  // steps it took

  bool none() const { return rights.empty() && !more && !unknown; }
};

// The rights among `granted` that no rule of `held` covers. A rule is a product (verbs × groups ×
// resources × names), and so can hold a million rights in two kilobytes; products are compared
// without being expanded.
MissingRights find_missing(std::span<const PolicyRule* const> held,
                           std::span<const PolicyRule> granted, CoverLimits limits = {});

}  // namespace muster::server
