#pragma once

#include <cstdint>
#include <functional>

#include "api/gates/gates.h"
#include "base/result.h"
#include "explain/explanation.h"
#include "explain/naming.h"
#include "explain/objects.h"
#include "explain/subject.h"

namespace muster::explain {

struct ExplainOptions {
  bool tries_relaxations = true;
  // All attempts at relaxations together may take this many steps of the search.
  std::uint64_t steps_max = 2'000'000;
  std::uint64_t attempts_max = 5'000;
  // Asked between attempts: true once nobody wants the answer any more. Then the answer comes soon,
  // and says that not everything was tried. Empty: it is always wanted.
  std::function<bool()> is_unwanted = {};
  api::Gates gates = {};  // as the scheduler has them
  // Groups and pods of other namespaces are counted, not named; empty: everybody is named.
  Naming::MayName may_name = {};
};

// Explains the state of a group or a pod, by making the attempt the scheduler would make and then
// trying what would help. For an object with several trees of groups the first that waits is
// explained, and all of them are shown. A pure function: same objects, same explanation.
// NotFound, with near names, if the subject is not among the objects.
Result<Explanation> explain(const Objects& objects, const Subject& subject,
                            const scheduler::Profiles& profiles, const ExplainOptions& options);

}  // namespace muster::explain
