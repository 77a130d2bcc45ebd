#include "cost/work.h"

namespace muster::cost {
namespace {

constinit thread_local Work work;

}  // namespace

Work& work_of_this_thread() { return work; }

}  // namespace muster::cost

// Called by the compiler at the start of each basic block.
// NOLINTBEGIN: the name is the compiler's
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() { ++muster::cost::work.steps; }
// NOLINTEND
